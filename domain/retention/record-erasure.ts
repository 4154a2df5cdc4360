import type { Decider } from '../decider.ts'
import type { CustomerId, OrganisationId } from '../values.ts'
import { recordErasureEvents, type RecordErasureEvent, type RetainedRecord, type RetentionKind } from './events.ts'
import { evolveRecordErasure, type RecordErasure } from './record.ts'

type About = {
  readonly record: RetainedRecord
  readonly contact_id: CustomerId | null
  readonly second_contact_id: CustomerId | null
}

export type RecordErasureCommand =
  | (About & {
      readonly type: 'RequestRecordErasure'
      readonly organisation_id: OrganisationId
      readonly kind: RetentionKind
      readonly period: string | null
      readonly ended_at: string | null
    })
  | { readonly type: 'GiveUpRecordErasure'; readonly because: string }
  /** The keys are destroyed. */
  | { readonly type: 'ConfirmRecordErasure'; readonly streams: readonly string[]; readonly kept_with_person: boolean }

/** A person has one of these for ever: it may begin again after it was erased. */
export const beginsAgain: readonly RetainedRecord['type'][] = ['lead', 'outreach_person']

type Asked = Extract<RecordErasureCommand, { type: 'RequestRecordErasure' }>

const mayBeAsked = (before: RecordErasure | undefined, { record, ended_at, period }: Asked): boolean => {
  if (before?.state === 'requested') return false
  // A restored backup may not know that it was erased, or know it and hold its values again.
  if (before?.state !== 'erased' || period === null) return true
  return beginsAgain.includes(record.type) && (ended_at ?? '') > (before.erased_at ?? '')
}

const decide = (command: RecordErasureCommand, before: RecordErasure | undefined): readonly RecordErasureEvent[] => {
  switch (command.type) {
    case 'RequestRecordErasure': {
      const { type: _type, ...asked } = command
      return mayBeAsked(before, command) ? [{ type: 'RecordErasureRequested', ...asked }] : []
    }
    case 'GiveUpRecordErasure':
    case 'ConfirmRecordErasure': {
      if (before?.state !== 'requested') return []
      const { record, contact_id, second_contact_id } = before
      const about = { record, contact_id, second_contact_id }
      if (command.type === 'GiveUpRecordErasure')
        return [{ type: 'RecordErasureGivenUp', ...about, because: command.because }]
      const { streams, kept_with_person } = command
      return [{ type: 'RecordErased', ...about, streams: [...streams], kept_with_person }]
    }
  }
}

/** The erasure of one record, by itself, while its person stays. */
export const recordErasure: Decider<RecordErasureCommand, typeof recordErasureEvents, RecordErasure | undefined> = {
  category: 'record_erasure',
  events: recordErasureEvents,
  initialState: undefined,
  decide,
  evolve: evolveRecordErasure,
}
