import { expect, test } from 'vitest'
import { applicationStreamEvents, type ApplicationStreamEvent } from '#domain/applications/record.ts'
import { QuoteId } from '#domain/values.ts'
import { dueTimes } from '../../projections/due-times/projection.ts'
import {
  annaId,
  answered,
  application_id,
  customerSaved,
  declined,
  referred,
  started,
} from '../applications/builders.ts'
import { organisation_id } from '../applications/release.ts'
import { recorded } from '../recorded.ts'

const kind = 'application_inactivity'
const key = { organisation_id, kind, id: application_id } as const
const stream = `application-${application_id}`

type Row = Parameters<typeof dueTimes.project>[0]

const rowAfter = (row: Row, event: ApplicationStreamEvent, occurred_at: string): Row => {
  const [stored] = recorded(applicationStreamEvents, stream, [event], { organisation_id, occurred_at })
  if (!stored) throw new Error('Nothing was recorded.')
  return dueTimes.keys(event, stored).some((each) => each.kind === kind)
    ? dueTimes.project(row, event, stored, key)
    : row
}

/** When the application is due to be abandoned, after these events, each a day after the other. */
const dueAfter = (...events: readonly ApplicationStreamEvent[]): string | undefined => {
  const at = (index: number) => new Date(Date.UTC(2026, 0, 1 + index)).toISOString()
  return events.reduce<Row>((row, event, index) => rowAfter(row, event, at(index)), undefined)?.due_at.slice(0, 10)
}

const days = { inactive_after_days: 30 }

test('an application is due to be abandoned as many days after its start as its release says', () => {
  expect(dueAfter(started())).toBe('2026-01-31')
  expect(dueAfter(started({ inactive_after_days: 7 }))).toBe('2026-01-08')
})

test('whatever is saved puts it off', () => {
  expect(dueAfter(started(), answered({ smoker: true }), customerSaved())).toBe('2026-02-02')
})

test('it is due by the full hour, never before its time: what is saved within an hour changes nothing', () => {
  const begun = rowAfter(undefined, started(), '2026-01-01T09:00:00.001Z')
  expect(begun?.due_at).toBe('2026-01-31T10:00:00.000Z')
  expect(rowAfter(begun, customerSaved(), '2026-01-01T10:00:00.000Z')).toBe(begun)
  const later = rowAfter(begun, customerSaved(), '2026-01-01T10:00:00.001Z')
  expect(later?.due_at).toBe('2026-01-31T11:00:00.000Z')
})

test('that a quote expires does not', () => {
  const expired = { type: 'QuoteExpired', quote_id: QuoteId.parse(annaId) } as const
  expect(dueAfter(started(), expired)).toBe('2026-01-31')
})

test('it is not due while it is with the team, or has ended', () => {
  for (const closed of [referred, declined]) expect(dueAfter(started(), closed)).toBeUndefined()
})

test('it is due again once it is open again', () => {
  const back = { type: 'ApplicationGivenBack', reason_message: null, ...days } as const
  expect(dueAfter(started(), referred, back)).toBe('2026-02-02')
})
