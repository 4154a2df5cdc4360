import { expect, test } from 'vitest'
import { policyEvents } from '#domain/policies/events.ts'
import { ErasedEvent, UnreadableEvent } from '#infra/crypto/erased.ts'
import type { RecordedEvent } from '#domain/event.ts'
import { readWhole } from '../../query-api/audit/as-of/related-events.ts'
import { eachRead, readStreams, toldBy, Unread } from '../../query-api/audit/lists/walk.ts'
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

test('a record that cannot be read is named in a list, and holds up no other', async () => {
  const make = async (some: readonly number[]) =>
    some.map((one) => {
      if (one === 2) toldBy(policyEvents, [cancelled(UnreadableEvent)])
      if (one === 4) throw new Unread('Its product cannot be read.')
      return one * 10
    })

  expect(await eachRead([1, 3], String, make)).toEqual({ made: [10, 30], unread: [] })
  expect(await eachRead([1, 2, 3, 4], String, make)).toEqual({
    made: [10, undefined, 30, undefined],
    unread: [
      { record: '2', why: 'It cannot be read.' },
      { record: '4', why: 'Its product cannot be read.' },
    ],
  })
  const away = async () => Promise.reject(new Error('The database is away.'))
  await expect(eachRead([1], String, away)).rejects.toThrow('away')
})

const sample = samples.find(({ event }) => event.type === 'PolicyCancelled')
/** A log whose streams have so many events, of so many bytes each. */
const logOf = (events: number, bytes: number) => ({
  read: async (stream: string, { from = 0, limit = 1_000 }: { from?: number; limit?: number } = {}) =>
    Array.from(
      { length: Math.min(limit, events - from) },
      () => ({ ...sample?.event, stream, data: { text: 'x'.repeat(bytes) } }) as unknown as RecordedEvent,
    ),
})
const past = (log: ReturnType<typeof logOf>) => ({
  organisation_id: sample?.event.metadata.organisation_id ?? '',
  moment: {},
  pool: undefined as never,
  eventLog: log as never,
})

test('what is read for a list at once is bound in events and in bytes, and of each record alone', async () => {
  await expect(readWhole(logOf(11_000, 1) as never, 'policy-1')).rejects.toThrow('Too many events')
  const million = past(logOf(1, 1_000_000))
  const streams = Array.from({ length: 70 }, (_, index) => `policy-${index}`)

  await expect(readStreams(million, streams)).rejects.toThrow('Too many events')

  const { made, unread } = await eachRead(streams, String, async (some) => [
    ...(await readStreams(million, some)).keys(),
  ])
  expect([made.length, unread]).toEqual([70, []])
})
