import { z } from 'zod'
import {
  EarningsLimit,
  JointBasis,
  Market,
  ReleaseCover,
  type Draft,
  LifecycleState,
} from '#domain/catalogue/events.ts'
import { neutralFactors } from '#domain/rating/factors.ts'
import { standardUnderwriting } from '#domain/rating/underwriting.ts'
import { CoverId, CurrencyCode, Pence, Slug, type OrganisationId, ProductType } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import { checkoutOf, DeclaredCheckout, writtenCheckout, type FindFile } from './declared-checkout.ts'
import { DeclaredJourney, journeyOf, keptJourneys, type IdOf } from './declared-journey.ts'
import { keptWhereLeftOut, writtenAt } from '../setup-file/kept.ts'
import type { Whole } from '../setup-file/section.ts'
import { unlessDerived, writtenJourney } from './written-journey.ts'
import { productIdOf } from './ids.ts'
import { Tier, RatingFactors, RateTableKey, UnderwritingRules } from '#domain/rating/events.ts'

const Text = z.string().min(1)
const shape = ReleaseCover.shape

const DeclaredCover = z
  .strictObject({
    id: CoverId.optional(),
    cover_type: shape.cover_type,
    title: shape.title.default(null),
    pricing_basis: shape.pricing_basis.default('rated'),
    sum_assured_min_pence: shape.sum_assured_min_pence.optional(),
    sum_assured_max_pence: shape.sum_assured_max_pence.optional(),
    age_at_entry_min: shape.age_at_entry_min.optional(),
    age_at_entry_max: shape.age_at_entry_max.optional(),
    term_years_min: shape.term_years_min.default(null),
    term_years_max: shape.term_years_max.default(null),
    max_age_at_expiry: shape.max_age_at_expiry.default(null),
    premium_basis: shape.premium_basis.default('guaranteed'),
    review_period_years: shape.review_period_years.default(null),
    minimum_premium_pence: shape.minimum_premium_pence.default(0),
    ci_payout_basis: shape.ci_payout_basis.default('additional'),
    survival_period_days: shape.survival_period_days.default(0),
    indexation_method: shape.indexation_method.default('none'),
    indexation_percent: shape.indexation_percent.default(null),
    benefit_basis: shape.benefit_basis.default('lump_sum'),
    member_premium_pence: shape.member_premium_pence.default(null),
    members_factor: shape.members_factor.default(null),
    opt_in_factor: shape.opt_in_factor.default(null),
    members_min: shape.members_min.default(null),
    members_max: shape.members_max.default(null),
    rate_table: shape.rate_table.default(null),
    tiers: z.array(Tier.strict()).default([]),
  })
  .superRefine((cover, context) => {
    const needed = {
      per_member: [],
      fixed_tiers: ['age_at_entry_min', 'age_at_entry_max'],
      rated: ['age_at_entry_min', 'age_at_entry_max', 'sum_assured_min_pence', 'sum_assured_max_pence'],
    } as const
    for (const name of needed[cover.pricing_basis])
      if (cover[name] === undefined)
        context.addIssue({ code: 'custom', path: [name], message: `a ${cover.pricing_basis} cover needs it` })
  })
type DeclaredCover = z.output<typeof DeclaredCover>

const DeclaredUnderwriting = z.strictObject({
  derived: UnderwritingRules.shape.derived.default([]),
  rules: UnderwritingRules.shape.rules.default([]),
  refer_above_percent: UnderwritingRules.shape.refer_above_percent.default(standardUnderwriting.refer_above_percent),
  decline_above_percent: UnderwritingRules.shape.decline_above_percent.default(
    standardUnderwriting.decline_above_percent,
  ),
})

/** A product of a set-up file: keys as the specification names them, and what follows from the rest left out. */
export const DeclaredProduct = z.strictObject({
  slug: Slug,
  name: Text,
  product_type: ProductType,
  currency_code: CurrencyCode.optional(),
  lifecycle_state: LifecycleState.optional(),
  publish: z.boolean().default(true),
  cooldown_days: z.int().default(30),
  inclusions: z.array(Text).default([]),
  exclusions: z.array(Text).default([]),
  covers: z.array(DeclaredCover).default([]),
  rate_tables: z.record(RateTableKey, z.int().min(1)).default({}),
  smoker: z
    .strictObject({ key: Text, values: z.array(z.union([z.string(), z.boolean()])).min(1) })
    .nullable()
    .default(null),
  joint: z
    .strictObject({
      mode: JointBasis.shape.mode,
      factor_key: Text.nullable().default(null),
      joint_values: z.array(Text).default([]),
    })
    .default({ mode: 'never', factor_key: null, joint_values: [] }),
  whole_of_market: z.boolean().default(false),
  underwriting: DeclaredUnderwriting.optional(),
  factors: RatingFactors.partial().strict().default({}),
  policy_fee_pence: Pence.default(0),
  quote_valid_days: z.int().min(1).default(30),
  checkout: DeclaredCheckout.prefault({}),
  inactive_after_days: z.int().min(1).default(30),
  market: z
    .strictObject({
      mapping: z.array(Market.shape.mapping.element.strict()).default([]),
      time_limit_seconds: Market.shape.time_limit_seconds.default(60),
      valid_days: Market.shape.valid_days.default(30),
    })
    .nullable()
    .default(null),
  earnings: EarningsLimit.extend({ percent: EarningsLimit.shape.percent.default(60) })
    .strict()
    .nullable()
    .default(null),
  journeys: z.array(DeclaredJourney).default([]),
})
export type DeclaredProduct = z.output<typeof DeclaredProduct>

type Owner = {
  readonly organisation_id: OrganisationId
  readonly currency_code: string
  readonly findFile: FindFile
}

/** Ids of a product's parts. */
const idsIn =
  (organisation_id: OrganisationId, slug: string): IdOf =>
  (kind, ...key) =>
    derivedId(kind, organisation_id, slug, ...key)

/** The draft of a declared product, with ids that stay the same from release to release. */
export const draftOf = (declared: DeclaredProduct, { organisation_id, currency_code, findFile }: Owner): Draft => {
  const { slug, factors, underwriting, covers } = declared
  const idOf = idsIn(organisation_id, slug)
  const journeys = declared.journeys.map((journey, position) => journeyOf(journey, position, idOf))
  return {
    product_id: productIdOf(organisation_id, slug),
    organisation_id,
    slug,
    name: declared.name,
    product_type: declared.product_type,
    currency_code: declared.currency_code ?? currency_code,
    cooldown_days: declared.cooldown_days,
    inclusions: declared.inclusions,
    exclusions: declared.exclusions,
    covers: covers.map((cover, index) => coverOf(cover, index, idOf)),
    journeys,
    whole_of_market: declared.whole_of_market,
    joint: declared.joint,
    rate_tables: declared.rate_tables,
    underwriting: underwriting ?? noRules,
    factors: { ...neutralFactors, ...stated(factors) },
    smoker: declared.smoker,
    policy_fee_pence: declared.policy_fee_pence,
    quote_valid_days: declared.quote_valid_days,
    inactive_after_days: declared.inactive_after_days,
    market: declared.market,
    earnings: declared.earnings,
    checkout: checkoutOf(declared.checkout, findFile, idOf),
  }
}

/** Parts of a declared product that are not of its draft. */
type Progress = Pick<z.output<typeof DeclaredProduct>, 'lifecycle_state' | 'publish'>

/** A product as a file declares it; `fileNameOf` puts its documents beside that. */
export const writtenProduct = (
  { organisation_id, product_id: _id, covers, journeys, checkout, ...draft }: Draft,
  { lifecycle_state, publish }: Progress,
  fileNameOf: (sha256: string) => string,
): Whole<z.input<typeof DeclaredProduct>> => {
  const { slug, name, product_type, currency_code, ...terms } = draft
  const idOf = idsIn(organisation_id, slug)
  return {
    slug,
    name,
    product_type,
    currency_code,
    lifecycle_state,
    publish,
    ...terms,
    checkout: writtenCheckout(checkout, idOf, fileNameOf),
    covers: covers.map((cover) => writtenCover(cover, idOf)),
    journeys: journeys.map((journey) => writtenJourney(journey, idOf)),
  }
}

const writtenCover = (
  { id, display_id: _shown, cover_index: _place, ...cover }: ReleaseCover,
  idOf: IdOf,
): Whole<z.input<typeof DeclaredCover>> => ({
  id: unlessDerived(id, coverIdOf(cover, idOf)),
  ...cover,
})

const coverIdOf = ({ cover_type, title }: Pick<ReleaseCover, 'cover_type' | 'title'>, idOf: IdOf): CoverId =>
  CoverId.parse(idOf('cover', cover_type, title ?? ''))

/** Parts of a product that the file leaves out stay as they are: also of its checkout, and of each journey. */
export const keptDraft = (draft: Draft, before: Draft | undefined, written: unknown): Draft => {
  if (!before) return draft
  const checkout = keptWhereLeftOut(draft.checkout, before.checkout, writtenAt(written, 'checkout'))
  const journeys = keptJourneys(draft.journeys, before.journeys, writtenAt(written, 'journeys'))
  return keptWhereLeftOut({ ...draft, checkout, journeys }, before, written)
}

const coverOf = (declared: DeclaredCover, cover_index: number, idOf: IdOf): ReleaseCover => {
  const { sum_assured_min_pence, sum_assured_max_pence, age_at_entry_min, age_at_entry_max, ...rest } = declared
  const id = declared.id ?? coverIdOf(declared, idOf)
  const levels = declared.tiers.map(({ cover_amount_pence }) => cover_amount_pence)
  const [least, most] = levels.length > 0 ? [Math.min(...levels), Math.max(...levels)] : [0, 0]
  return {
    ...rest,
    id,
    display_id: `cov_${id}`,
    cover_index,
    sum_assured_min_pence: sum_assured_min_pence ?? least,
    sum_assured_max_pence: sum_assured_max_pence ?? most,
    age_at_entry_min: age_at_entry_min ?? 0,
    age_at_entry_max: age_at_entry_max ?? 120,
  }
}

const { refer_above_percent, decline_above_percent } = standardUnderwriting
const noRules: UnderwritingRules = { derived: [], rules: [], refer_above_percent, decline_above_percent }

/** Parts left out of a declared product that its price depends on, and what that means. */
export const leftOut = (declared: DeclaredProduct): readonly string[] => {
  const { whole_of_market, covers, underwriting, factors, policy_fee_pence } = declared
  if (whole_of_market || !covers.some(({ pricing_basis }) => pricing_basis === 'rated')) return []
  const stated = (name: keyof RatingFactors) => factors[name] !== undefined
  const names = Object.keys(neutralFactors) as (keyof RatingFactors)[] // its own keys
  const missing = names.filter((name) => !stated(name))
  return [
    ...(missing.length > 0 ? [`has no factors of its own for ${missing.join(', ')}: they change no rate`] : []),
    ...(underwriting ? [] : ['has no underwriting: no answer loads the price, refers or declines']),
    ...(policy_fee_pence === 0 ? ['has no policy fee'] : []),
  ]
}

const stated = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]?: Exclude<Fields[Name], undefined>
  }
