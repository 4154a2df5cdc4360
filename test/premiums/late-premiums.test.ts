import { expect, test } from 'vitest'
import { toStored } from '#domain/event.ts'
import { policyEvents, type PolicyEvent } from '#domain/policies/events.ts'
import { policy } from '#domain/policies/policy.ts'
import { policyRulesOf } from '#domain/policy-rules/record.ts'
import { derivedId } from '#infra/ids.ts'
import { commandHandler } from '../../command-api/writing/handle.ts'
import { policyTimers } from '../../command-api/policies/timers.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import { termRelease } from '../quotes/builders.ts'
import { england } from '../policies/calendars.ts'
import { memoryLog } from './bank.ts'
import { bound } from './premium-builders.ts'

/** Covers that grow each year, and timers of the months before that come only after the one of the anniversary. */

const [life] = bound.components
const [cover] = termRelease.covers
if (!life || !cover) throw new Error('The samples cover nothing.')
const covers = [{ ...cover, indexation_method: 'fixed_percent' as const, indexation_percent: 3 }]
const growing: readonly PolicyEvent[] = [
  { ...bound, components: [{ ...life, indexation_method: 'fixed_percent' }], next_indexation_on: '2027-02-02' },
  { type: 'PolicyActivated', start_date: bound.start_date },
]
const due_at = '2027-02-02T00:00:00.000Z'

test('premiums that were due before covers have grown cost what they cost before', async () => {
  const { log } = memoryLog()
  const writer = makeWriter({ log, seen: async () => undefined })
  const { policy_id, organisation_id } = bound
  const stream = `policy-${policy_id}`
  const context = {
    organisation_id,
    actor: { type: 'system', id: 'timer' },
    correlation_id: 'test',
    now: due_at,
  } as const
  await log.append(
    stream,
    'no_stream',
    growing.map((event) => ({
      id: derivedId('event', event.type),
      ...toStored(policyEvents, event),
      metadata: { ...context, causation_id: null, occurred_at: '2026-02-01T09:00:00.000Z' },
    })),
  )
  const timers = policyTimers({
    calendar: england,
    writer,
    catalogue: { release: async () => ({ ...termRelease, covers }) },
    rulesOf: policyRulesOf(new Map()),
    reviewBasis: async () => ({ reason: 'by_the_team' }),
  })
  const indexation = timers.find(({ kind }) => kind === 'policy_indexation') ?? expect.fail()

  for (let time = 0; time < 2; time++)
    await indexation.fire({ organisation_id, kind: 'policy_indexation', id: policy_id, stream, due_at }, context)

  const state = await commandHandler(writer, policy).load(policy_id)
  expect(state?.premiums.map(({ due_on }) => due_on).at(-1)).toBe('2027-01-15')
  expect(new Set(state?.premiums.map(({ amount_pence }) => amount_pence))).toEqual(new Set([2875]))
  expect(state?.premium_pence).toBeGreaterThan(2875)
  expect(state?.next_collection_on).toBe('2027-02-15')
})
