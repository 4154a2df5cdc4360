import { expect, test } from 'vitest'
import { ingest, isIngest, type IngestState } from '#domain/ingests/ingest.ts'
import { SubjectErased } from '#infra/crypto/erased.ts'
import { LogUnavailable } from '#infra/event-log/event-log.ts'
import { later, orDefer } from '../../command-api/ingests/deferral.ts'
import { stateOf } from '../scenario.ts'
import { contact_id, received, resolving } from './builders.ts'

/** What becomes of an ingest when a step of it fails. */

const now = '2026-01-15T12:00:00.000Z'
const clock = { now: () => new Date(now) }

test.each([
  [0, '2026-01-15T12:00:10.000Z'],
  [1, '2026-01-15T12:00:10.000Z'],
  [2, '2026-01-15T12:00:40.000Z'],
  [3, '2026-01-15T12:02:00.000Z'],
  [4, '2026-01-15T12:10:00.000Z'],
  [5, '2026-01-15T12:10:00.000Z'],
])('after try %i it is tried again at %s', (attempt, at) => {
  expect(later(clock, attempt)).toBe(at)
})

const failing = async (error: unknown, step: 'resolving' | 'extracting', picked?: IngestState['picked']) => {
  const state = stateOf(ingest, resolving)
  if (!isIngest(state)) throw new Error('There is no ingest.')
  const logged: unknown[] = []
  const { organisation_id } = received
  const context = { organisation_id, actor: { type: 'system', id: null } as const, correlation_id: 'test', now }
  const log = { error: (line: unknown) => logged.push(line) }
  const command = await orDefer({ ...state, picked }, step, context, { log, clock }, async () => {
    throw error
  })
  return { command, logged: logged.length }
}

const again = { type: 'DeferIngest', isTry: true, retry_after: '2026-01-15T12:00:10.000Z' }
const erased = new SubjectErased('erased')

test('what went wrong on our side is tried again, and logged', async () => {
  const reason = 'Something went wrong on our side.'
  expect(await failing(new Error('It broke.'), 'extracting')).toEqual({
    command: { ...again, step: 'extracting', reason },
    logged: 1,
  })
})

test('somebody who is erased just now is sent in again as somebody new', async () => {
  const reason = 'The person whom it was about is being erased.'
  expect(await failing(erased, 'resolving')).toEqual({ command: { ...again, step: 'resolving', reason }, logged: 0 })
})

test('of somebody who was erased nothing is read, and a lead is not made theirs: it has failed', async () => {
  const reason = 'The person whom it is about was erased.'
  const failed = (step: string) => ({ command: { type: 'FailIngest', step, reason }, logged: 0 })

  expect(await failing(erased, 'extracting')).toEqual(failed('extracting'))
  expect(await failing(erased, 'resolving', contact_id)).toEqual(failed('resolving'))
})

test('what is waited out by whoever runs the step is not said of the ingest', async () => {
  await expect(failing(new LogUnavailable('It is away.'), 'resolving')).rejects.toThrow('It is away.')
})
