import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { event, idOf, toStored, type EventOf, type NewEvent } from '#domain/event.ts'
import type { Projection } from '../../projections/projection.ts'

export const tallyEvents = {
  TallyOpened: event({ title: z.string() }),
  TallyRaised: event({ by: z.int(), note: z.unknown().optional() }),
  TallyClosed: event({ reason: z.string() }),
}
export type TallyEvent = EventOf<typeof tallyEvents>

export const organisation_id = '6f8f3a52-6f39-4f0e-9c5b-0d2c65d1a001'

type TallyRow = {
  readonly organisation_id: string
  readonly id: string
  readonly title: string | null
  readonly total: number
  readonly changes: number
  readonly changed_at: string
  readonly notes: readonly unknown[]
}

/** What was counted. A tally that is closed disappears. */
export const tallies: Projection<typeof tallyEvents, TallyRow, 'organisation_id' | 'id'> = {
  name: 'tallies',
  version: 1,
  categories: ['tally'],
  events: tallyEvents,
  table: {
    columns: {
      organisation_id: 'uuid',
      id: 'uuid',
      title: 'text',
      total: 'bigint',
      changes: 'integer',
      changed_at: 'timestamptz',
      notes: 'json',
    },
    key: ['organisation_id', 'id'],
    indexes: ['organisation_id, title'],
  },
  keys: (_event, { stream }) => [{ organisation_id, id: idOf(stream) }],
  project: (row, tally, { metadata }, key) => {
    const { title = null, total = 0, changes = 0, notes = [] } = row ?? {}
    const changed = { changes: changes + 1, changed_at: metadata.occurred_at }
    switch (tally.type) {
      case 'TallyOpened':
        return { ...key, ...changed, title: tally.title, total, notes }
      case 'TallyRaised':
        return {
          ...key,
          ...changed,
          title,
          total: total + tally.by,
          notes: tally.note === undefined ? notes : [...notes, tally.note],
        }
      case 'TallyClosed':
        return undefined
    }
  },
}

/** An event of a tally on its way into the log. */
export const newEvent = (tally: TallyEvent, occurred_at = '2026-01-15T12:00:00.000Z'): NewEvent => ({
  id: uuidv7(),
  ...toStored(tallyEvents, tally),
  metadata: {
    organisation_id,
    actor: { type: 'system', id: null },
    correlation_id: 'test',
    causation_id: null,
    occurred_at,
  },
})
