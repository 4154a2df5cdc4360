import { LRUCache } from 'lru-cache'
import type { ApplicationId, OrganisationId } from '#domain/values.ts'
import type { Parts } from '#infra/parts.ts'
import { sql } from '#infra/postgres/postgres.ts'

/** The application that a quote of an organisation belongs to. */
export type QuoteOwner = (
  organisation_id: OrganisationId,
  quote_id: string,
) => Promise<{ readonly application_id: ApplicationId } | undefined>

const remembered = 10_000

/** Whose quote it is never changes. A quote that is not in the read model yet is waited for, as long as an answer waits. */
export const makeQuoteOwner = ({
  pool,
  eventLog,
  progress,
  config,
}: Pick<Parts, 'pool' | 'eventLog' | 'progress'> & {
  readonly config: Pick<Parts['config'], 'READ_YOUR_WRITES_MS'>
}): QuoteOwner => {
  const known = new LRUCache<string, { readonly application_id: ApplicationId }>({ max: remembered })

  const read = async (organisation_id: OrganisationId, quote_id: string) => {
    const { rows } = await pool.query<{ application_id: ApplicationId }>({
      name: 'owner-of-quote',
      ...sql`select application_id from quotes where organisation_id = ${organisation_id} and id = ${quote_id}`,
    })
    return rows[0]
  }

  const readWhenCurrent = async (organisation_id: OrganisationId, quote_id: string) => {
    const head = await eventLog.head()
    if (head !== undefined) await progress.wait('application', head, config.READ_YOUR_WRITES_MS)
    return read(organisation_id, quote_id)
  }

  return async (organisation_id, quote_id) => {
    const key = `${organisation_id} ${quote_id.toLowerCase()}`
    const found =
      known.get(key) ?? (await read(organisation_id, quote_id)) ?? (await readWhenCurrent(organisation_id, quote_id))
    if (found) known.set(key, found)
    return found
  }
}
