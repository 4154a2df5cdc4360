import { isSameJson } from '../canonical-json.ts'
import { acceptCovers, type AcceptedCover } from './acceptance.ts'
import { nextBirthday } from './age.ts'
import { entry } from './answers.ts'
import { acceleratedUnlikeLife, beyondEarnings, exclusion } from './bounds.ts'
import { isAccelerated, priceComponents, type QuotableCover } from './components.ts'
import { lifeAtStart, membersOf, missingDetails, type LifeAtStart } from './lives.ts'
import { coverRates } from './rates.ts'
import type { MissingRate, Priced, PricingRequest, PricingResult } from './request.ts'
import { isPlanLevel, selectCovers } from './selection.ts'
import type { ExcludedCover, Loading, QuoteComponent, RateTableUsed } from './events.ts'

/**
 * The price of what was applied for, or the first reason why there is none: something missing, what underwriting says,
 * no cover within its bounds, no rate. It throws only where a release contradicts itself.
 */
export const price = (request: PricingRequest): PricingResult => {
  const found = quotableCovers(request)
  if ('outcome' in found) return found
  const { quotable, lives, excluded } = found
  const { priced, policyFeePence } = priceComponents(request, quotable, lives)
  const components = priced.map(({ component }) => component)
  const premium = components.reduce((sum, { premium_pence }) => sum + premium_pence, policyFeePence)
  const loadings = loadingsOf(quotable, lives)
  return {
    outcome: 'priced',
    decision: loadings.length > 0 ? 'loaded' : 'standard',
    components,
    excluded_covers: excluded,
    premium_pence: premium,
    policy_fee_pence: policyFeePence,
    annual_premium_pence: premium * 12,
    total_premium_pence: totalPremium(components, policyFeePence),
    joint: request.lives.length > 1,
    members: membersIn(quotable, request),
    journey_loading: request.journey_loading,
    loadings,
    rate_tables: tablesOf(quotable),
  }
}

type Quotable = {
  readonly quotable: readonly QuotableCover[]
  readonly lives: readonly LifeAtStart[]
  readonly excluded: readonly ExcludedCover[]
}

/** The covers that there is a price for, with their rates. */
export const quotableCovers = (request: PricingRequest): Quotable | Exclude<PricingResult, Priced> => {
  const { chosen, excluded: notSelected, unsaved } = selectCovers(request)
  const people = request.lives.map((life) => lifeAtStart(request.release, life, request.start_date))
  const fields = missingDetails(request, chosen, people)
  if (fields.length > 0) return { outcome: 'details_missing', fields }
  if (unsaved.length > 0) return { outcome: 'cover_missing', fields: unsaved }

  const lives = people.filter((life) => life !== undefined)
  const {
    accepted,
    excluded: declined,
    ending,
  } = acceptCovers(request.release.underwriting, chosen, lives, request.accepted_terms)
  if (ending) return { outcome: 'not_accepted', ...ending }

  const { within, excluded: outOfBounds } = withinBounds(request, accepted, lives)
  const excluded = inOrder(request, [...notSelected, ...declined, ...outOfBounds])
  if (within.length === 0) return { outcome: 'no_quotable_cover', excluded_covers: excluded }

  const { quotable, missing } = withRates(request, within, lives)
  if (missing.length > 0) return { outcome: 'rate_unavailable', missing_rates: missing }

  return { quotable, lives, excluded }
}

/**
 * The day on which waiting costs the customer: the first birthday of a life assured after the start date, up to
 * `until`, from which the same application would have another price, or none. A quote expires as that day begins.
 */
export const birthdayThatChangesPrice = (request: PricingRequest, until: string): string | null => {
  const birthdays = request.lives
    .flatMap(({ dob }) => (dob === null ? [] : [nextBirthday(dob, request.start_date)]))
    .filter((birthday) => birthday <= until)
    .toSorted()
  if (birthdays.length === 0) return null
  const before = price(request)
  return birthdays.find((birthday) => !costsTheSame(before, price({ ...request, start_date: birthday }))) ?? null
}

/** The same covers are priced, each at the same premium. */
export const costsTheSame = (before: PricingResult, after: PricingResult): after is Priced =>
  before.outcome === 'priced' && after.outcome === 'priced' && isSameJson(premiumsOf(before), premiumsOf(after))

const premiumsOf = ({ components, premium_pence }: Priced) => ({
  premium_pence,
  covers: components.map((each) => [each.cover_index, each.premium_pence]),
})

const withinBounds = (
  request: PricingRequest,
  accepted: readonly AcceptedCover[],
  lives: readonly LifeAtStart[],
): { readonly within: readonly AcceptedCover[]; readonly excluded: readonly ExcludedCover[] } => {
  const currency = request.release.currency_code
  const { earnings } = request.release
  const ages = lives.map(({ age }) => age)
  const earned = lives.map(({ answers }) => entry(answers, earnings?.key ?? ''))
  const within: AcceptedCover[] = []
  const excluded: ExcludedCover[] = []
  const exclude = ({ cover }: AcceptedCover, why: Pick<ExcludedCover, 'reason' | 'message'>) =>
    excluded.push({ cover_id: cover.id, cover_type: cover.cover_type, ...why })

  for (const one of accepted) {
    const insured = one.cover.pricing_basis === 'fixed_tiers' ? ages.slice(0, 1) : ages
    const why =
      exclusion(one, insured, membersOf(one.cover, request.lives[0].answers), currency) ??
      (earnings && beyondEarnings(one, earned, earnings.percent, currency))
    if (why) exclude(one, why)
    else within.push(one)
  }
  const life = within.find(({ cover }) => cover.cover_type === 'life' && cover.pricing_basis === 'rated')
  return {
    within: within.filter((one) => {
      const why = life && isAccelerated(one.cover) ? acceleratedUnlikeLife(one, life, currency) : undefined
      if (why) exclude(one, why)
      return !why
    }),
    excluded,
  }
}

/** In the order of the covers of the product. */
const inOrder = ({ release }: PricingRequest, excluded: readonly ExcludedCover[]): readonly ExcludedCover[] =>
  excluded.length < 2
    ? excluded
    : release.covers.flatMap(({ id }) => excluded.find(({ cover_id }) => cover_id === id) ?? [])

const withRates = (request: PricingRequest, covers: readonly AcceptedCover[], lives: readonly LifeAtStart[]) => {
  const quotable: QuotableCover[] = []
  const missing: MissingRate[] = []
  for (const one of covers) {
    const rates = one.cover.pricing_basis === 'rated' ? coverRates(request, one, lives) : null
    if (rates && 'missing' in rates) missing.push(...rates.missing)
    else quotable.push({ ...one, rates })
  }
  return { quotable, missing }
}

/** Each loading once for each life, whichever covers it is for. */
const loadingsOf = (covers: readonly QuotableCover[], lives: readonly LifeAtStart[]): readonly Loading[] =>
  lives.flatMap((_, index) => {
    const found = new Map<string, Loading>()
    for (const { underwritings } of covers)
      for (const loading of underwritings[index]?.loadings ?? [])
        found.set(`${loading.code} ${loading.label} ${loading.value}`, loading)
    return [...found.values()]
  })

const tablesOf = (covers: readonly QuotableCover[]): readonly RateTableUsed[] => {
  const byKey = new Map<string, RateTableUsed>()
  for (const { rates } of covers) if (rates) byKey.set(rates.table.key, rates.table)
  return [...byKey.values()]
}

/** Known only when every premium is guaranteed and level for a fixed term. The fee runs as long as any cover. */
const totalPremium = (components: readonly QuoteComponent[], feePence: number): number | null => {
  let total = 0
  let longest = 0
  for (const { premium_pence, term_years, premium_basis, indexation_method } of components) {
    const isLevel = indexation_method === 'none' || indexation_method === 'decreasing'
    if (term_years === null || premium_basis !== 'guaranteed' || !isLevel) return null
    total += premium_pence * 12 * term_years
    longest = Math.max(longest, term_years)
  }
  return total + feePence * 12 * longest
}

/** The people of the one level of a group plan that is chosen; an add-on covers people who are counted already. */
const membersIn = (covers: readonly QuotableCover[], { lives }: PricingRequest): number | null => {
  const plan = covers.find(({ cover }) => isPlanLevel(cover))
  return plan ? membersOf(plan.cover, lives[0].answers) : null
}
