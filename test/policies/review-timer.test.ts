import { afterAll, beforeAll, expect, test } from 'vitest'
import { fromStored } from '#domain/event.ts'
import { policyStreamEvents } from '#domain/policies/record.ts'
import { policyRulesOf } from '#domain/policy-rules/record.ts'
import { policyTimers } from '../../command-api/policies/timers.ts'
import { makeReviewBasis } from '../../command-api/review-basis.ts'
import { makeWriter } from '../../command-api/writer.ts'
import { organisation_id } from '../applications/release.ts'
import { checkoutRelease } from '../checkout/builders.ts'
import { openSales, type Sales } from './fixture.ts'

/** The review of a policy that was sold over HTTP, as the timer of its day sees it. */

const sold = checkoutRelease()
const release = {
  ...sold,
  covers: sold.covers.map((cover) => ({ ...cover, premium_basis: 'reviewable' as const, review_period_years: 5 })),
}
const due_at = '2031-06-01T23:00:00.000Z'

let sales: Sales
beforeAll(async () => {
  sales = await openSales({ release })
})
afterAll(async () => sales[Symbol.asyncDispose]())

const bound = async () => {
  const { quote_id, application_id } = await sales.ready()
  const { id } = (await sales.bind(quote_id)).body.data
  return { id, application_id }
}

/** The timer of a process of its own. `version` is the newest one that its read model knows. */
const timerOf = (version = 3) => {
  const writer = makeWriter({ log: sales.log, seen: async () => undefined })
  const { catalogue } = sales
  const newestVersions = async () => [{ key: 'life.level', version }]
  const reviewBasis = makeReviewBasis({ writer, catalogue, newestVersions })
  const timers = policyTimers({ writer, catalogue, rulesOf: policyRulesOf(new Map()), reviewBasis })
  return async (id: string) => {
    const actor = { type: 'system', id: 'timer policy_review' } as const
    const due = { organisation_id, kind: 'policy_review', id, stream: `policy-${id}`, due_at }
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

test('nothing is decided before the tables that it was sold with can be read', async () => {
  const { id } = await bound()
  const fire = timerOf(2)

  await expect(fire(id)).rejects.toThrow('No published version of life.level can be read yet.')

  expect(await reviewsOf(id)).toEqual([])
})
