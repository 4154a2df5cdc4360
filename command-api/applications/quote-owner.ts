import { LRUCache } from 'lru-cache'
import type { ApplicationId, OrganisationId } from '#domain/values.ts'
import { findShown, type Shown } from '#infra/consumers/until-shown.ts'
import type { Parts } from '#infra/role-parts.ts'
import { sql } from '#infra/postgres/postgres.ts'

/** The application that a quote of an organisation belongs to. */
export type QuoteOwner = (
  organisation_id: OrganisationId,
  quote_id: string,
) => Promise<{ readonly application_id: ApplicationId } | undefined>

const remembered = 10_000

/** The owner of a quote never changes. */
export const makeQuoteOwner = ({
  pool,
  shown,
}: Pick<Parts, 'pool'> & {
  readonly shown: Shown
}): QuoteOwner => {
  const known = new LRUCache<string, { readonly application_id: ApplicationId }>({ max: remembered })

  const read = async (organisation_id: OrganisationId, quote_id: string) => {
    const { rows } = await pool.query<{ application_id: ApplicationId }>({
      name: 'owner-of-quote',
      ...sql`select application_id from quotes where organisation_id = ${organisation_id} and id = ${quote_id}`,
    })
    return rows[0]
  }

  return async (organisation_id, quote_id) => {
    const key = `${organisation_id} ${quote_id.toLowerCase()}`
    const found = known.get(key) ?? (await findShown(shown, 'application', async () => read(organisation_id, quote_id)))
    if (found) known.set(key, found)
    return found
  }
}
