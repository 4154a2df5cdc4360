import type { RecordedEvent } from '#domain/event.ts'
import type { StripeObject } from '../../stand-ins/stripe/objects.ts'
import type { Sale } from './money-firm.ts'
import type { ListedPremium } from './money-load.ts'

/** Compares what the service says of each premium with the books of the payment provider. Each finds faults, in sentences. */

/** A payment in the provider's books. */
export type Payment = {
  readonly id: string
  readonly metadata: Readonly<Record<string, string>>
  readonly isUnderWay: boolean
  readonly captured: number
  readonly refunded: number
  /** What was given back and has come back, after the payer's bank had taken the rest for good: no more of it is paid. */
  readonly stranded: number
  readonly disputes: number
  /** What the firm has of it. */
  readonly held: number
}

export type Premiums = readonly ListedPremium[]

const sumOf = <Item>(items: readonly Item[], penceOf: (item: Item) => number): number =>
  items.reduce((sum, item) => sum + penceOf(item), 0)

export const metadataOf = (object: StripeObject): Readonly<Record<string, string>> =>
  (object['metadata'] ?? {}) as Record<string, string> // as forms tell of it

const amountOf = ({ amount }: StripeObject): number => Number(amount)

/** A refund that has not failed. */
const isGiven = ({ status }: StripeObject): boolean => status !== 'failed' && status !== 'canceled'

export const paymentsIn = (objects: readonly StripeObject[]): readonly Payment[] => {
  const about = Map.groupBy(
    objects.filter(({ object }) => object === 'refund' || object === 'dispute'),
    (each) => `${each.object} ${String(each['payment_intent'])}`,
  )
  return objects
    .filter(({ object }) => object === 'payment_intent')
    .map((intent) => {
      const refunds = (about.get(`refund ${intent.id}`) ?? []).filter(isGiven)
      const disputes = about.get(`dispute ${intent.id}`) ?? []
      const captured = intent['status'] === 'succeeded' ? amountOf(intent) : 0
      const refunded = sumOf(refunds, amountOf)
      const failed = (about.get(`refund ${intent.id}`) ?? []).filter((each) => !isGiven(each))
      const taken = sumOf(
        disputes.filter(({ status }) => status !== 'won'),
        amountOf,
      )
      return {
        id: intent.id,
        metadata: metadataOf(intent),
        isUnderWay:
          ['processing', 'requires_capture'].includes(String(intent['status'])) ||
          refunds.some(({ status }) => status === 'pending'),
        captured,
        refunded,
        stranded: taken > 0 ? Math.min(captured - refunded - taken, sumOf(failed, amountOf)) : 0,
        disputes: disputes.length,
        held: captured - refunded - taken,
      }
    })
}

/** The payments of each premium: of those by card only the first. Those of nobody are for what was not bought. */
export const byPremium = (payments: readonly Payment[], premiums: Premiums, sales: readonly Sale[]) => {
  const policyOf = new Map(sales.map(({ application_id, policy_id }) => [application_id, policy_id]))
  const firstOf = new Map(
    premiums.filter(({ number }) => number === 1).map(({ policy_id, premium_id }) => [policy_id, premium_id]),
  )
  return Map.groupBy(payments, ({ metadata }) => {
    const policy_id = policyOf.get(metadata['application_id'])
    return metadata['premium_id'] ?? (policy_id === undefined ? undefined : firstOf.get(policy_id))
  })
}

const owedTwice = ({ refunds }: ListedPremium): number =>
  sumOf(
    refunds.filter(({ status, reason }) => status === 'owed' && reason === 'paid_twice'),
    ({ refund_pence }) => refund_pence,
  )

/** Each premium was asked for once at a time, collected once, and is recorded as the provider has it. */
export const faultsOfPremium = (premium: ListedPremium, payments: readonly Payment[]): readonly string[] => {
  const { premium_id, policy_id, number, status, amount_pence, refunded_pence, refunds, attempts } = premium
  const name = `premium ${number} (${premium_id}) of policy ${policy_id}`
  const faults: string[] = []
  if (status === 'due' || status === 'requested') faults.push(`${name} is still ${status}`)
  if (refunds.some((refund) => refund.status === 'owed' && !refund.is_left))
    faults.push(`${name} is still to be given back`)
  const held = sumOf(payments, (each) => each.held)
  const paid = status === 'collected' ? amount_pence - refunded_pence : sumOf(payments, (each) => each.stranded)
  const recorded = paid + owedTwice(premium)
  if (held !== recorded)
    faults.push(
      `${name} is ${status}, which is ${recorded} pence, and the provider has ${held}: ${shown(payments)}; ${JSON.stringify(refunds)}`,
    )
  const captured = payments.filter((each) => each.captured > 0)
  const disputes = sumOf(payments, (each) => each.disputes)
  const givenBack = captured.filter((each) => each.refunded === each.captured).length
  if (captured.length > 1 + disputes + givenBack)
    faults.push(`${name} was collected ${captured.length} times, with ${disputes} disputes: ${shown(payments)}`)
  const byDebit = Map.groupBy(payments, ({ metadata }) => metadata['attempt'])
  for (const [attempt, same] of byDebit)
    if (same.length > 1) faults.push(`${name} was asked for ${same.length} times as attempt ${attempt}`)
  if (payments.length > attempts) faults.push(`${name} was asked for ${payments.length} times in ${attempts} attempts`)
  return faults
}

const shown = (payments: readonly Payment[]): string =>
  payments
    .map(({ id, captured, refunded, held }) => `${id} of ${captured}, ${refunded} given back, ${held} held`)
    .join(', ')

type Asked = { readonly asked: ReadonlyMap<string, number>; readonly ended: ReadonlySet<string> }

/** Nothing was given back without a cause, or more often than it was owed. */
export const faultsOfRefunds = (
  premium: ListedPremium,
  payments: readonly Payment[],
  objects: readonly StripeObject[],
  { asked, ended }: Asked,
): readonly string[] => {
  const { premium_id, policy_id, number, refunds } = premium
  const name = `premium ${number} (${premium_id}) of policy ${policy_id}`
  const faults: string[] = []
  // By hand a part of one may have been given back, which then stands beside the rest of it.
  const byTeam = sumOf(
    refunds.filter(({ reason }) => reason === 'operator'),
    ({ refund_pence }) => refund_pence,
  )
  const wanted = asked.get(premium_id) ?? 0
  if (byTeam !== wanted)
    faults.push(`${name} has ${byTeam} pence of refunds of the team, which has asked for ${wanted}`)
  for (const { refund_id, reason, refund_pence, status } of refunds) {
    const given = sumOf(
      objects.filter(
        (each) => each.object === 'refund' && metadataOf(each)['refund_id'] === refund_id && isGiven(each),
      ),
      amountOf,
    )
    if (given > refund_pence) faults.push(`${name}: ${given} pence were given back for ${refund_pence} of ${refund_id}`)
    if (status !== 'owed' && status !== 'refunded') continue
    if (reason === 'paid_twice' && payments.filter(({ captured }) => captured > 0).length < 2)
      faults.push(`${name} is given back as paid twice, and was paid once`)
    if ((reason === 'cooling_off' || reason === 'policy_ended') && !ended.has(policy_id))
      faults.push(`${name} is given back for ${reason}, and the policy goes on`)
  }
  return faults
}

const ends: readonly string[] = ['PolicyCancelled', 'PolicyLapsed', 'PolicyExpired', 'PolicyClaimed']

export const endedPolicies = (events: readonly RecordedEvent[]): ReadonlySet<string> =>
  new Set(events.flatMap(({ type, stream }) => (ends.includes(type) ? [stream.slice('policy-'.length)] : [])))

/** Each sale made one policy, or none; each policy's premiums follow each other. */
export const faultsOfSales = (
  sales: readonly Sale[],
  events: readonly RecordedEvent[],
  premiums: Premiums,
): readonly string[] => {
  const faults: string[] = []
  const bound = Map.groupBy(
    events.filter(({ type }) => type === 'PolicyBound'),
    ({ data }) => String(data['application_id']),
  )
  for (const { key, application_id, policy_id, isGivenUp } of sales) {
    const policies = (bound.get(String(application_id)) ?? []).map(({ stream }) => stream)
    const expected = policy_id === undefined ? [] : [`policy-${policy_id}`]
    if (policies.join() !== expected.join()) faults.push(`${key} has made ${policies.join(' and ') || 'no policy'}`)
    if (policy_id === undefined && !isGivenUp) faults.push(`${key} did not come to its end`)
  }
  for (const [policy_id, own] of Map.groupBy(premiums, (each) => each.policy_id)) {
    const numbers = own.map(({ number }) => number).toSorted((one, other) => one - other)
    if (numbers.some((number, index) => number !== index + 1))
      faults.push(`policy ${policy_id} has the premiums ${numbers.join()}`)
    if (new Set(own.map(({ covers_from }) => covers_from)).size !== own.length)
      faults.push(`policy ${policy_id} has two premiums of one month`)
  }
  return faults
}
