import { answerText } from './answers.ts'
import { priceComponents, type PricedComponent } from './components.ts'
import { decimalUnits } from './decimal.ts'
import type { PriceStep, QuoteComponent } from './events.ts'
import { tableOf, type LifeAtStart } from './lives.ts'
import { answerFactorsOf, journeyUnits } from './premium.ts'
import { quotableCovers } from './price.ts'
import { cellKey, valuesAt } from './rate-table.ts'
import type { PricingRequest } from './request.ts'

/** The cell of a rate table from which a rate was taken. */
export type UsedCell = {
  readonly table: string
  readonly version: number
  /** As the table names it: `34|25|n`. */
  readonly cell: string
  /** The values that led to it, by what they are of. */
  readonly at: Readonly<Record<string, string>>
  readonly rate_e4: number
  /** For each £1,000 of this the rate is paid: the sum assured, or a year of a monthly benefit. */
  readonly benefit_pence: number
}

/** A step with the component's price before and after it, in pence with up to six decimals. */
export type WorkedStep = PriceStep & {
  readonly before_pence: string
  readonly after_pence: string
  /** Of a rate; otherwise null. */
  readonly used: UsedCell | null
}

type Of<Step> = Pick<QuoteComponent, 'cover_id' | 'cover_index' | 'cover_type' | 'title' | 'premium_pence'> & {
  /** One after the other: each says what it adds, and they add up to the price. */
  readonly steps: readonly Step[]
}
export type WorkedComponent = Of<WorkedStep>

type Total<Component> = {
  readonly components: readonly Component[]
  readonly policy_fee_pence: number
  readonly premium_pence: number
}
export type Explanation = Total<Of<PriceStep>>

/** The steps to the price of a request; undefined where there is none. */
export const explain = (request: PricingRequest): Explanation | undefined => {
  const worked = workOut(request)
  return worked && { ...worked, components: worked.components.map(asExplained) }
}

const asExplained = ({ steps, ...component }: WorkedComponent): Of<PriceStep> => ({
  ...component,
  steps: steps.map(({ step, name, value, life, adds_pence }) => ({ step, name, value, life, adds_pence })),
})

/** The same steps, with the price before and after each, and the cells that were used. */
export const workOut = (request: PricingRequest): Total<WorkedComponent> | undefined => {
  const found = quotableCovers(request)
  if ('outcome' in found) return undefined
  const { priced, policyFeePence } = priceComponents(request, found.quotable, found.lives)
  const components = priced.map((one): WorkedComponent => {
    const { cover_id, cover_index, cover_type, title, premium_pence } = one.component
    return { cover_id, cover_index, cover_type, title, premium_pence, steps: stepsOf(request, one, found.lives) }
  })
  const premium_pence = components.reduce((sum, { premium_pence: pence }) => sum + pence, policyFeePence)
  return { components, policy_fee_pence: policyFeePence, premium_pence }
}

const stepsOf = (request: PricingRequest, priced: PricedComponent, lives: readonly LifeAtStart[]) => {
  const { working, component } = priced
  const account = openAccount()
  switch (working.by) {
    case 'life_cover':
      account.add({ step: 'part_of_life_cover', name: 'paid on a critical illness' }, whole(0), '0')
      return account.steps
    case 'list':
      account.add({ step: 'list', name: listName(component) }, whole(working.pence), String(working.pence))
      break
    case 'rates':
      addRates(account, { request, priced, lives })
  }
  account.multiply(
    { step: 'journey_loading', name: 'journey_loading' },
    { n: journeyUnits(request.journey_loading), d: 10_000n },
    request.journey_loading,
  )
  account.round()
  account.raiseTo(component.premium_pence)
  return account.steps
}

const listName = ({ pricing_basis, members, member_premium_pence, cover_amount_pence }: QuoteComponent): string =>
  pricing_basis === 'per_member'
    ? `${members} people at ${member_premium_pence} pence`
    : `the level of ${cover_amount_pence} pence`

type Rated = {
  readonly request: PricingRequest
  readonly priced: PricedComponent
  readonly lives: readonly LifeAtStart[]
}

const addRates = (account: Account, { request, priced, lives }: Rated): void => {
  const { quotable, working } = priced
  if (working.by !== 'rates') return
  const { cover, term, underwritings } = quotable
  const { rates, benefitPence, factors } = working
  const benefit = { n: BigInt(benefitPence), d: 100_000n }
  const { variant, table } = tableOf(request, cover, lives[0]?.answers ?? {})
  const loadingsOf = (index: number, basis: string) =>
    (underwritings[index]?.loadings ?? []).filter((loading) => loading.basis === basis)

  lives.forEach((life, index) => {
    const whose = index === 0 ? 1 : 2
    const { rateE4 = 0, answerFactors = [] } = rates.lives[index] ?? {}
    const point = { age: life.age, term, smoker: life.smoker, variant }
    const dimensions = table?.dimensions ?? []
    const cell = cellKey(dimensions, point) ?? ''
    const { key, version } = rates.table
    const rate = times({ n: BigInt(rateE4), d: 10_000n }, benefit)
    let ofLife = rate
    const used = {
      table: key,
      version,
      cell,
      at: valuesAt(dimensions, point),
      rate_e4: rateE4,
      benefit_pence: benefitPence,
    }
    account.add({ step: 'rate', name: `${key} ${version}: ${cell}`, life: whose, used }, rate, `${rateE4}`)
    for (const { code, value } of loadingsOf(index, 'percent')) {
      const extra = times(rate, { n: decimalUnits(value, 0), d: 100n })
      ofLife = plus(ofLife, extra)
      account.add({ step: 'loading', name: code, life: whose }, extra, `${value} %`)
    }
    answerFactorsOf(request.release.factors, cover.cover_type).forEach((factorsOf, at) => {
      const factor = { n: BigInt(answerFactors[at] ?? 1000), d: 1000n }
      const changed = times(ofLife, factor)
      const name = `${factorsOf.key} ${answerText(life.answers, factorsOf.key)}`
      account.add({ step: 'answer_factor', name, life: whose }, minus(changed, ofLife), thousandth(factor.n))
      ofLife = changed
    })
  })
  for (const { name, thousandths } of factors) {
    const factor = { n: BigInt(thousandths), d: 1000n }
    account.multiply({ step: 'factor', name }, factor, thousandth(factor.n))
  }
  lives.forEach((_life, index) => {
    for (const { code, value } of loadingsOf(index, 'per_mille')) {
      const extra = times({ n: decimalUnits(value, 2), d: 12n }, benefit)
      account.add({ step: 'loading', name: code, life: index === 0 ? 1 : 2 }, extra, `£${value} for each £1,000 a year`)
    }
  })
}

/** An exact fraction. */
type Fraction = { readonly n: bigint; readonly d: bigint }
const whole = (pence: number): Fraction => ({ n: BigInt(pence), d: 1n })
const times = (a: Fraction, b: Fraction): Fraction => ({ n: a.n * b.n, d: a.d * b.d })
const plus = (a: Fraction, b: Fraction): Fraction => ({ n: a.n * b.d + b.n * a.d, d: a.d * b.d })
const minus = (a: Fraction, b: Fraction): Fraction => plus(a, { n: -b.n, d: b.d })

const thousandth = (units: bigint): string => `${units / 1000n}.${String(units % 1000n).padStart(3, '0')}`

type Named = Pick<PriceStep, 'step' | 'name'> & { readonly life?: 1 | 2; readonly used?: UsedCell | null }

/**
 * A running total. It is exact; what is shown of it has six places of a penny, and a step shows the difference of two
 * such totals, so that what is shown adds up too.
 */
const openAccount = () => {
  const steps: WorkedStep[] = []
  let total: Fraction = { n: 0n, d: 1n }
  let shown = 0n
  const moveTo = (next: Fraction, { step, name, life, used = null }: Named, value: string) => {
    total = next
    const before = shown
    shown = millionthsOf(next)
    const [adds_pence, before_pence, after_pence] = [decimal(shown - before), decimal(before), decimal(shown)]
    steps.push({ step, name, value, life: life ?? null, adds_pence, before_pence, after_pence, used })
  }
  return {
    steps,
    add: (named: Named, extra: Fraction, value: string) => moveTo(plus(total, extra), named, value),
    multiply: (named: Named, factor: Fraction, value: string) => moveTo(times(total, factor), named, value),
    /** To a whole penny, half up. */
    round: () => {
      const pence = (2n * total.n + total.d) / (2n * total.d)
      moveTo({ n: pence, d: 1n }, { step: 'rounding', name: 'half up to a penny' }, String(pence))
    },
    raiseTo: (pence: number) => {
      if (total.n < BigInt(pence) * total.d)
        moveTo(whole(pence), { step: 'minimum_premium', name: 'minimum_premium_pence' }, String(pence))
    },
  }
}
type Account = ReturnType<typeof openAccount>

/** No total is negative. */
const millionthsOf = ({ n, d }: Fraction): bigint => (2n * n * 1_000_000n + d) / (2n * d)

const decimal = (millionths: bigint): string => {
  const [sign, size] = millionths < 0n ? ['-', -millionths] : ['', millionths]
  const fraction = String(size % 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '')
  return `${sign}${size / 1_000_000n}${fraction === '' ? '' : `.${fraction}`}`
}
