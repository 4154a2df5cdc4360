import type { Pool } from 'pg'
import { requestOfQuote } from '#domain/applications/priced-request.ts'
import { journeyOfApplication } from '#domain/applications/record.ts'
import type { Release } from '#domain/catalogue/events.ts'
import { OwnError } from '#domain/own-error.ts'
import type { ReviewBasis } from '#domain/policies/review.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import type { RateTable } from '#domain/rating/events.ts'
import { price } from '#domain/rating/price.ts'
import type { OrganisationId } from '#domain/values.ts'
import { untilShown, type Shown } from '#infra/consumers/until-shown.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { makeBeforeQuote } from '../applications/before-quote.ts'
import { digest } from '../applications/digest.ts'
import type { Writer } from '../writing/handle.ts'
import type { Catalogue } from '../catalogue/live-catalogue.ts'

type Versions = (organisation_id: OrganisationId, keys: readonly string[], at: string) => Promise<readonly Version[]>
type Version = { readonly key: string; readonly version: number }

type Deps = {
  readonly writer: Pick<Writer, 'log'>
  readonly catalogue: Pick<Catalogue, 'release' | 'rateTable' | 'rateTablesOf'>
  readonly newestVersions: Versions
}

/** The basis on which a policy's premiums are reviewed: what it was sold on, and the tables at the time of the review. */
export const makeReviewBasis = ({ writer, catalogue, newestVersions }: Deps) => {
  const beforeQuote = makeBeforeQuote(writer.log)

  const tablesAt = async (release: Release, at: string): Promise<ReadonlyMap<string, RateTable> | undefined> => {
    const { organisation_id, rate_tables } = release
    const named = Object.entries(rate_tables)
    const newest = await newestVersions(
      organisation_id,
      named.map(([key]) => key),
      at,
    )
    const tables = new Map<string, RateTable>()
    for (const [key, sold] of named) {
      const version = newest.find((each) => each.key === key)?.version
      if (version === undefined || version < sold) throw new OwnError(`No published version of ${key} can be read yet.`)
      const table = await catalogue.rateTable(organisation_id, key, version)
      if (!table || !canPrice(release, table)) return undefined
      tables.set(key, table)
    }
    return tables
  }

  return async (policy: PolicyState, at: string): Promise<ReviewBasis> => {
    const { organisation_id, product_id, product_release_id } = policy
    const release = await catalogue.release(organisation_id, product_id, product_release_id)
    const found = await beforeQuote(policy.application_id, policy.quote_id)
    if (!release || !found) throw new OwnError(`What policy ${policy.id} was sold on cannot be read.`)
    const { state, issued } = found
    const given = { release, journey: journeyOfApplication(release, state.record), digest }
    const sold = requestOfQuote(
      { ...given, rate_tables: await catalogue.rateTablesOf(release) },
      state,
      issued.start_date,
    )
    // Where answers were erased, they have another price than the one that was sold, or none.
    const before = price(sold)
    if (before.outcome !== 'priced' || before.premium_pence !== issued.premium_pence) return { reason: 'no_answers' }
    const rate_tables = await tablesAt(release, at)
    return rate_tables ? { sold: { ...sold, rate_tables } } : { reason: 'no_table' }
  }
}

/** The table is in the same currency, and needs no answer that was never asked. */
const canPrice = ({ currency_code, smoker }: Release, table: RateTable): boolean =>
  table.currency_code === currency_code && (smoker !== null || !table.dimensions.includes('smoker'))

/** The newest version of each table that was published by then. */
export const makeNewestVersions =
  ({ pool, shown }: { readonly pool: Pool; readonly shown: Shown }): Versions =>
  async (organisation_id, keys, at) => {
    await untilShown(shown, ['rate_table'])
    const { rows } = await pool.query<Version>(sql`
      select key, max(version) as version from rate_tables
      where organisation_id = ${organisation_id} and key = any(${keys}) and published_at <= ${at}
      group by key`)
    return rows
  }
