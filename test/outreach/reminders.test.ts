import { describe, expect, test } from 'vitest'
import type { OutreachPersonEvent } from '#domain/outreach/events.ts'
import { circumstances, decided, ended, joined as joinedEvent, now, place, queued, startedStream } from './builders.ts'

const stream = startedStream({ date_field: 'renewal_on', offset_days: -7, send_at_local_time: '10:00' }, 'reminder')
const joined = { ...joinedEvent, next_at: '2026-03-25T10:00:00.000Z' } as OutreachPersonEvent

const put = (date: string | null, at = now, given: readonly OutreachPersonEvent[] = [joined]) =>
  decided(given, { type: 'Reschedule', reminders: [circumstances(stream, { date, now: at })] })
const movedTo = (next_at: string | null) => [{ type: 'OutreachRescheduled', ...place, next_at }]

describe('a reminder of somebody whose date', () => {
  test('moves earlier is due earlier', () => {
    expect(put('2026-02-10')).toEqual(movedTo('2026-02-03T10:00:00.000Z'))
  })

  test('moves later is due later', () => {
    expect(put('2026-06-10')).toEqual(movedTo('2026-06-03T09:00:00.000Z'))
  })

  test('is the same as before stays as it is', () => {
    expect(put('2026-04-01')).toEqual([])
  })

  test.each([
    ['moves so far that the time is over', '2026-01-26'],
    ['is no date any more', null],
  ])('%s is not sent, until the date moves once more', (_what, date) => {
    expect(put(date)).toEqual(movedTo(null))
    const without: OutreachPersonEvent = { type: 'OutreachRescheduled', ...place, next_at: null }
    expect(put('2026-02-10', now, [joined, without])).toEqual(movedTo('2026-02-03T10:00:00.000Z'))
  })

  test('moves when it is due already is left to its timer', () => {
    expect(put('2026-01-26', '2026-03-25T10:00:00.000Z')).toEqual([])
  })

  test('moves when it was written already is not written again', () => {
    expect(put('2026-02-10', now, [joined, queued])).toEqual([])
  })

  test('moves when the person has left is not sent', () => {
    expect(put('2026-02-10', now, [joined, ended()])).toEqual([])
  })
})
