import type { Pool } from 'pg'
import type { OrganisationId, ProductId } from '#domain/values.ts'
import { findShown, type Shown } from '#infra/consumers/until-shown.ts'
import { isTableNotMade, sql } from '#infra/postgres/postgres.ts'

/** True where a policy of a product was ever set up, in test or in earnest. */
export const makeHasSold =
  ({ pool, shown }: { readonly pool: Pool; readonly shown: Shown }) =>
  async (organisation_id: OrganisationId, product_id: ProductId): Promise<boolean> => {
    try {
      const sold = await findShown(shown, 'policy', async () => {
        const { rows } = await pool.query<object>(
          sql`select 1 from policies where organisation_id = ${organisation_id} and product_id = ${product_id} limit 1`,
        )
        return rows[0]
      })
      return sold !== undefined
    } catch (error) {
      if (isTableNotMade(error)) return false
      throw error
    }
  }
