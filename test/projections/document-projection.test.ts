import { expect, test } from 'vitest'
import { z } from 'zod'
import { event, type EventOf } from '#domain/event.ts'
import { documentProjection, happenedAt, streamId } from '../../projections/document-projection.ts'
import { recorded } from '../recorded.ts'

const organisation_id = '6f8f3a52-6f39-4f0e-9c5b-0d2c65d1a001'
const policy = '00000000-0000-4000-8000-000000000001'
const letter = '00000000-0000-4000-8000-000000000002'

const letterEvents = {
  LetterWritten: event({ letter_id: z.uuid(), subject: z.string(), recipient: z.string() }),
  LetterRead: event({ letter_id: z.uuid(), by: z.string() }),
  LetterBurnt: event({ letter_id: z.uuid() }),
}
type LetterEvent = EventOf<typeof letterEvents>

type Letter = {
  readonly subject: string
  readonly recipient: { readonly name: string }
  readonly read_by: string | null
}

const evolve = (before: Letter | undefined, one: LetterEvent): Letter | undefined | null => {
  switch (one.type) {
    case 'LetterWritten':
      return { subject: one.subject, recipient: { name: one.recipient }, read_by: null }
    case 'LetterRead':
      return before && { ...before, read_by: one.by }
    case 'LetterBurnt':
      return null
  }
}

const letters = documentProjection({
  name: 'letters',
  version: 1,
  categories: ['policy'],
  events: letterEvents,
  keys: ({ letter_id: id }) => [{ id }],
  evolve,
  columns: {
    policy_id: streamId,
    subject: 'text',
    document: 'json',
    recipient_name: { type: 'text', of: ({ recipient }) => recipient.name },
    changed_at: happenedAt,
    changes: { type: 'integer', of: (_letter, _recorded, _event, before) => (before ?? 0) + 1 },
  },
  indexes: ['organisation_id, subject'],
})

const occurred_at = '2026-01-15T12:00:00.000Z'

const shownAfter = (...events: readonly LetterEvent[]) => {
  let row: Parameters<typeof letters.project>[0]
  for (const each of events)
    for (const one of recorded(letterEvents, `policy-${policy}`, [each], { organisation_id, occurred_at }))
      for (const key of letters.keys(each, one)) row = letters.project(row, each, one, key)
  return row
}

const written: LetterEvent = { type: 'LetterWritten', letter_id: letter, subject: 'Renewal', recipient: 'Ada' }

test('a column is the field of its name, or what is made of the document, the event and what it held before', () => {
  expect(shownAfter(written, { type: 'LetterRead', letter_id: letter, by: 'Ada' })).toEqual({
    organisation_id,
    id: letter,
    policy_id: policy,
    subject: 'Renewal',
    document: { subject: 'Renewal', recipient: { name: 'Ada' }, read_by: 'Ada' },
    recipient_name: 'Ada',
    changed_at: occurred_at,
    changes: 2,
  })
})

test('the table has the organisation first, then the key, then the columns in their order', () => {
  expect(letters.table.key).toEqual(['organisation_id', 'id'])
  expect(Object.entries(letters.table.columns)).toEqual([
    ['organisation_id', 'uuid'],
    ['id', 'uuid'],
    ['policy_id', 'uuid'],
    ['subject', 'text'],
    ['document', 'json'],
    ['recipient_name', 'text'],
    ['changed_at', 'timestamptz'],
    ['changes', 'integer'],
  ])
})

test('of what shows nothing, no row is kept', () => {
  expect(shownAfter(written, { type: 'LetterBurnt', letter_id: letter })).toBeUndefined()
})

test('an event of a record that was never created is refused', () => {
  expect(() => shownAfter({ type: 'LetterRead', letter_id: letter, by: 'Ada' })).toThrow(
    `LetterRead of ${JSON.stringify({ organisation_id, id: letter })} in letters, which was never created.`,
  )
})
