import type { ApplicationId } from '#domain/values.ts'
import { findShown, type Shown } from '#infra/consumers/until-shown.ts'
import type { Parts } from '#infra/role-parts.ts'
import { sql } from '#infra/postgres/postgres.ts'
import type { MandateOwner } from './mandates.ts'

/** Looks a mandate up in the read model of payments. */
export const makeMandateOwner =
  ({ pool, shown }: Pick<Parts, 'pool'> & { readonly shown: Shown }): MandateOwner =>
  async (organisation_id, provider_mandate_id) =>
    findShown(shown, 'application', async () => {
      const { rows } = await pool.query<{ id: string; application_id: ApplicationId }>({
        name: 'owner-of-mandate',
        ...sql`
          select id, application_id from payments
          where organisation_id = ${organisation_id} and reference = ${provider_mandate_id} and kind = 'mandate'`,
      })
      return rows[0]
    })
