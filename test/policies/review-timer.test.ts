import { afterAll, beforeAll, expect, test } from 'vitest'
import { fromStored } from '#domain/event.ts'
import { policy } from '#domain/policies/policy.ts'
import { policyStreamEvents } from '#domain/policies/record.ts'
import { policyRulesOf } from '#domain/policy-rules/record.ts'
import { commandHandler } from '../../command-api/writing/handle.ts'
import { premiumIds } from '../../command-api/policies/ids.ts'
import { policyTimers } from '../../command-api/policies/timers.ts'
import { makeReviewBasis } from '../../command-api/policies/review-basis.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import { organisation_id } from '../applications/release.ts'
import { checkoutRelease } from '../checkout/builders.ts'
import { openSales, type Sales } from './fixture.ts'
import { england } from './calendars.ts'

/** The review of a policy that was sold over HTTP, as the timer of its day sees it. */

const sold = checkoutRelease()
const release = {
  ...sold,
  covers: sold.covers.map((cover) => ({
    ...cover,
    premium_basis: 'reviewable' as const,
    review_period_years: 5,
    indexation_method: 'fixed_percent' as const,
    indexation_percent: 3,
  })),
}
const due_at = '2031-06-01T23:00:00.000Z'

let sales: Sales
beforeAll(async () => {
  sales = await openSales({ release })
})
afterAll(async () => sales[Symbol.asyncDispose]())

/** A policy whose premiums of the years before its review were called when they were due. */
const bound = async () => {
  const { quote_id, application_id } = await sales.ready()
  const { id } = (await sales.bind(quote_id)).body.data
  const { handle } = commandHandler(sales.writer, policy)
  const actor = { type: 'system', id: null } as const
  const context = { organisation_id, actor, correlation_id: 'test', now: due_at }
  const call = { type: 'CallPremium', calendar: england, now: due_at, idOf: premiumIds(id) } as const
  while ((await handle(id, call, context)).events.length > 0);
  return { id, application_id }
}

/** The timer of a process of its own. `version` is the newest one that its read model knows. */
const timerOf = (version = 3, tables: Partial<Sales['catalogue']> = {}) => {
  const writer = makeWriter({ log: sales.log, seen: async () => undefined })
  const catalogue = { ...sales.catalogue, ...tables }
  const newestVersions = async () => [{ key: 'life.level', version }]
  const reviewBasis = makeReviewBasis({ writer, catalogue, newestVersions })
  const timers = policyTimers({ calendar: england, writer, catalogue, rulesOf: policyRulesOf(new Map()), reviewBasis })
  return async (id: string, kind: 'policy_review' | 'policy_indexation' = 'policy_review') => {
    const actor = { type: 'system', id: `timer ${kind}` } as const
    const due = { organisation_id, kind, id, stream: `policy-${id}`, due_at }
    const timer = timers.find(({ kind }) => kind === due.kind)
    await timer?.fire(due, { organisation_id, actor, correlation_id: 'test', now: due_at })
  }
}

const reviewsOf = async (id: string) =>
  (await sales.log.read(`policy-${id}`)).filter(({ type }) => type.startsWith('PolicyReview'))

test('two processes that price a review at once price it once, as the service itself and as of its day', async () => {
  const { id } = await bound()
  const [one, other] = [timerOf(), timerOf()]

  await Promise.all([one(id), other(id)])
  await one(id)

  const reviews = await reviewsOf(id)
  expect(reviews.map(({ type }) => type)).toEqual(['PolicyReviewed', 'PolicyReviewPriced'])
  for (const { metadata } of reviews)
    expect(metadata).toMatchObject({ actor: { type: 'system', id: 'timer policy_review' }, occurred_at: due_at })
})

test('whose answers were erased, it is left to the team', async () => {
  const { id, application_id } = await bound()
  await sales.dataKeys.erase({ organisation_id, subject: `application-${application_id}` })
  const fire = timerOf()

  await fire(id)

  const told = (await reviewsOf(id)).map((recorded) => fromStored(policyStreamEvents, recorded))
  expect(told).toEqual([{ type: 'PolicyReviewDue', review_on: '2031-06-02', reason: 'no_answers' }])
})

test('where a table of the day is not there, it is left to the team', async () => {
  const { id } = await bound()
  const fire = timerOf(3, { rateTable: async () => undefined })

  await fire(id)

  const told = (await reviewsOf(id)).map((recorded) => fromStored(policyStreamEvents, recorded))
  expect(told).toEqual([{ type: 'PolicyReviewDue', review_on: '2031-06-02', reason: 'no_table' }])
})

test('nothing is decided before the tables that it was sold with can be read', async () => {
  const { id } = await bound()
  const fire = timerOf(2)

  await expect(fire(id)).rejects.toThrow('No published version of life.level can be read yet.')

  expect(await reviewsOf(id)).toEqual([])
})

test.each([
  ['the review comes first', ['policy_review', 'policy_indexation']],
  ['the indexation comes first', ['policy_indexation', 'policy_review']],
] as const)(
  'of a review and an indexation that two processes come to at once, on the same day, each is done once, and what is reviewed has grown: %s',
  async (_which, kinds) => {
    const { id } = await bound()
    const { handle } = commandHandler(makeWriter({ log: sales.log, seen: async () => undefined }), policy)
    // The anniversaries before have passed.
    for (const year of [2027, 2028, 2029, 2030]) {
      const now = `${year}-06-02T00:00:00.000Z`
      const context = { organisation_id, actor: { type: 'system', id: null }, correlation_id: 'test', now } as const
      if (year === 2027) await handle(id, { type: 'ActivatePolicy', now }, context)
      await handle(id, { type: 'IndexPolicy', now, rules: { rpi: [], rpi_cap_percent: '10' }, release }, context)
    }
    const amountsOf = async (type: string) =>
      (await sales.log.read(`policy-${id}`))
        .map((recorded) => fromStored(policyStreamEvents, recorded))
        .flatMap((event) => (event.type === type && 'components' in event ? [event.components] : []))
        .map(([component]) => component && 'cover_amount_pence' in component && component.cover_amount_pence)

    await Promise.all(kinds.map((kind) => timerOf()(id, kind)))
    for (const kind of kinds) await timerOf()(id, kind)

    const grown = await amountsOf('PolicyIndexed')
    expect(grown).toHaveLength(5)
    expect(await amountsOf('PolicyReviewed')).toEqual([grown.at(-1)])
    const types = (await sales.log.read(`policy-${id}`)).map(({ type }) => type)
    expect(types.lastIndexOf('PolicyIndexed')).toBeLessThan(types.indexOf('PolicyReviewed'))
  },
)
