import { productEvents, type Draft, type ProductEvent } from '#domain/catalogue/events.ts'
import { ApplicationId, OrganisationId } from '#domain/values.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { sql } from '#infra/postgres/postgres.ts'
import type { Caller } from '#infra/http/route.ts'
import { products, releases } from '../../projections/catalogue/projection.ts'
import { catalogueRoutes } from '../../query-api/catalogue/routes.ts'
import { readModel } from '../read-model.ts'
import { recorded } from '../recorded.ts'
import { serve, serverCaller } from '../serve.ts'
import { became, draft, drafted, organisation_id, published } from './builders.ts'

export const keys = deriveKeys('bWFzdGVyIGtleSBvZiB0aGUgdGVzdHMsIDMyIGJ5dGVzIGxvbmc=')
export const application_id = ApplicationId.parse('0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d')
export const other = OrganisationId.parse('99999999-9999-4999-8999-999999999999')

export const onSale = [drafted(), published(), became('sandbox'), became('production')]

/** The query API over read models that hold these events. */
export const catalogue = async (events: readonly ProductEvent[] = onSale, caller: Caller = serverCaller()) => {
  const view = await readModel(products, releases)
  await view.pool.query('create table applications (organisation_id uuid, id uuid, journey_id uuid, release_id uuid)')
  const api = await serve(catalogueRoutes({ db: view.pool }), caller, { keys })
  const applied = new Map<string, number>()
  const apply = (more: readonly ProductEvent[], of: Draft = draft()) => {
    const from = applied.get(of.product_id) ?? 0
    applied.set(of.product_id, from + more.length)
    return view.apply(recorded(productEvents, `product-${of.product_id}`, more, { from }))
  }
  await apply(events)

  return {
    ...api,
    apply,
    started: async (journey: string, release_id: string, organisation: OrganisationId = organisation_id) => {
      const journey_id = draft().journeys.find(({ slug }) => slug === journey)?.id
      await view.pool.query(sql`
        insert into applications values (${organisation}, ${application_id}, ${journey_id}, ${release_id})`)
    },
    [Symbol.asyncDispose]: async () => {
      await api[Symbol.asyncDispose]()
      await view[Symbol.asyncDispose]()
    },
  }
}

const { product_id: id, covers, journeys } = draft()
export const [cover] = covers
export const [standard, broker] = journeys

export const productShown = {
  id,
  display_id: `prod_${id}`,
  slug: 'term-life',
  name: 'Term Life',
  product_type: 'term',
  currency_code: 'GBP',
  lifecycle_state: 'production',
  cooldown_days: 30,
  inclusions: ['Death during the term'],
  exclusions: ['Suicide in the first 12 months'],
  cover_bounds: {
    sum_assured_min_pence: 1_000_000,
    sum_assured_max_pence: 100_000_000,
    age_min: 18,
    age_max: 70,
    term_min: 5,
    term_max: 40,
  },
  covers: [
    {
      id: cover?.id,
      display_id: `cov_${cover?.id}`,
      cover_type: 'life',
      cover_index: 0,
      sum_assured_min_pence: 1_000_000,
      sum_assured_max_pence: 100_000_000,
      age_at_entry_min: 18,
      age_at_entry_max: 70,
      term_years_min: 5,
      term_years_max: 40,
      max_age_at_expiry: 80,
      premium_basis: 'guaranteed',
      review_period_years: null,
      minimum_premium_pence: 500,
      ci_payout_basis: 'additional',
      survival_period_days: 0,
      indexation_method: 'none',
      benefit_basis: 'lump_sum',
      title: null,
      pricing_basis: 'rated',
      member_premium_pence: null,
      members_factor: null,
      opt_in_factor: null,
    },
  ],
}

export const standardShown = {
  id: standard?.id,
  display_id: `jrn_${standard?.id}`,
  slug: 'standard',
  name: 'Standard',
  description: null,
  journey_loading: '1.00',
  position: 0,
  lifecycle_state: 'production',
}
export const brokerShown = {
  id: broker?.id,
  display_id: `jrn_${broker?.id}`,
  slug: 'broker',
  name: 'Broker',
  description: 'For brokers',
  journey_loading: '1.10',
  position: 1,
  lifecycle_state: 'sandbox',
}
