import { expect, test } from 'vitest'
import { policyEvents } from '#domain/policies/events.ts'
import { ErasedEvent, UnreadableEvent } from '#infra/crypto/erased.ts'
import { toldBy } from '../../query-api/audit/lists/walk.ts'
import { samples } from '../stored-events/samples.ts'

const cancelled = (Why: typeof UnreadableEvent) => {
  const sample = samples.find(({ event }) => event.type === 'PolicyCancelled')
  if (!sample) throw new Error('There is no sample.')
  const data = Object.defineProperty({}, 'note', {
    enumerable: true,
    get: () => {
      throw new Why('It cannot be read.')
    },
  })
  return { ...sample.event, schema_version: policyEvents.PolicyCancelled.version, data }
}

test('an event of a person who was erased is left out of a list; one that cannot be read otherwise is missed', () => {
  expect(toldBy(policyEvents, [cancelled(ErasedEvent)])).toEqual([])
  expect(() => toldBy(policyEvents, [cancelled(UnreadableEvent)])).toThrow('It cannot be read.')
})
