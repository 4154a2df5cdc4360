import type { Decider } from '../decider.ts'
import { notFound, Rejection } from '../rejection.ts'
import type { CustomerId, IngestId } from '../values.ts'
import { ingestEvents, type IngestContent, type IngestEvent, type IngestStep } from './events.ts'
import { evolveRecord, type IngestRecord } from './record.ts'

type Data<Type extends IngestEvent['type']> = Omit<Extract<IngestEvent, { type: Type }>, 'type'>

export type IngestCommand =
  | ({ readonly type: 'ReceiveIngest' } & Data<'IngestReceived'>)
  | { readonly type: 'UseKeyFor'; readonly first_ingest_id: IngestId }
  | ({ readonly type: 'HoldIngest' } & Data<'IngestHeld'>)
  | ({ readonly type: 'ReviewIngest' } & Data<'IngestReviewNeeded'>)
  | ({ readonly type: 'DiscardSpam' } & Data<'IngestDiscarded'>)
  /** `read` is given where it was read in the same step. */
  | ({ readonly type: 'ResolveIngest'; readonly read?: Data<'IngestApplied'> } & Data<'IngestResolved'>)
  | ({ readonly type: 'ApplyIngest' } & Data<'IngestApplied'>)
  | {
      readonly type: 'DeferIngest'
      readonly step: IngestStep
      readonly reason: string
      /** When it is tried again. */
      readonly retry_after: string
      /** False: it had to wait, and was not tried. */
      readonly isTry: boolean
    }
  | { readonly type: 'RetryIngest'; readonly now: string }
  | { readonly type: 'FailIngest'; readonly step: IngestStep; readonly reason: string }
  | { readonly type: 'AcceptIngest' }
  | { readonly type: 'PickPerson'; readonly contact_id: CustomerId | null }
  | { readonly type: 'DiscardIngest'; readonly note: string | null }

/** An ingest as the command side knows it: the record, and what only its processing needs. */
export type IngestState = {
  readonly record: IngestRecord
  readonly content: IngestContent
  readonly accepted_at: string
  /** The person whom the team picked: null for somebody new, undefined when nobody was picked. */
  readonly picked: CustomerId | null | undefined
}

/** A stream of a key that stands for another ingest has nothing else. */
export type IngestStream = IngestState | { readonly first_ingest_id: IngestId } | undefined

export const isIngest = (state: IngestStream): state is IngestState => state !== undefined && 'record' in state

/** Most tries of a step; then the ingest has failed. */
export const mostAttempts = 5

const decide = (command: IngestCommand, state: IngestStream): readonly IngestEvent[] => {
  if (command.type === 'ReceiveIngest') {
    const { type: _type, ...data } = command
    return state === undefined ? [{ type: 'IngestReceived', ...data }] : []
  }
  if (command.type === 'UseKeyFor')
    return state === undefined ? [{ type: 'IngestKeyUsed', first_ingest_id: command.first_ingest_id }] : []
  if (!isIngest(state)) throw notFound('ingest')
  // Said once more, nothing changes.
  if (command.type === 'PickPerson' && command.contact_id === state.picked && state.record.status !== 'needs_review')
    return []
  return decideOn(command, state.record)
}

type LaterCommand = Exclude<IngestCommand, { type: 'ReceiveIngest' | 'UseKeyFor' }>

/** Its first step starts it. */
const decideOn = (command: LaterCommand, record: IngestRecord): readonly IngestEvent[] => {
  if (record.status !== 'received') return decideInTurn(command, record)
  const attempt = 1
  const decided = decideInTurn(command, { ...record, status: 'resolving', attempt })
  return decided.length > 0 ? [{ type: 'IngestResolutionStarted', attempt }, ...decided] : []
}

/** A processing command out of turn is a repeat, and changes nothing. */
const decideInTurn = (command: LaterCommand, record: IngestRecord): readonly IngestEvent[] => {
  const { id: ingest_id, status, step, attempt } = record
  switch (command.type) {
    case 'HoldIngest':
      return status === 'resolving' ? [{ type: 'IngestHeld', failures: command.failures }] : []
    case 'ReviewIngest': {
      const { type: _type, ...data } = command
      return status === 'resolving' ? [{ type: 'IngestReviewNeeded', ...data }] : []
    }
    case 'DiscardSpam': {
      const { reason, note } = command
      return status === 'resolving' ? [{ type: 'IngestDiscarded', reason, note }] : []
    }
    case 'ResolveIngest': {
      const { type: _type, read, ...data } = command
      if (status !== 'resolving') return []
      return [{ type: 'IngestResolved', ...data }, ...(read ? [{ type: 'IngestApplied', ...read } as const] : [])]
    }
    case 'ApplyIngest': {
      const { type: _type, ...data } = command
      return status === 'extracting' ? [{ type: 'IngestApplied', ...data }] : []
    }
    case 'DeferIngest': {
      const { reason, retry_after } = command
      if (status !== command.step) return []
      if (!command.isTry)
        return [{ type: 'IngestDeferred', step: command.step, attempt: attempt - 1, reason, retry_after }]
      return attempt >= mostAttempts
        ? [{ type: 'IngestFailed', step: command.step, reason }]
        : [{ type: 'IngestDeferred', step: command.step, attempt, reason, retry_after }]
    }
    case 'RetryIngest':
      return status === 'deferred' && step !== null && (record.retry_after ?? '') <= command.now
        ? [{ type: 'IngestRetried', step, attempt: attempt + 1 }]
        : []
    case 'FailIngest': {
      const { reason } = command
      return status === command.step ? [{ type: 'IngestFailed', step: command.step, reason }] : []
    }
    case 'AcceptIngest':
      if (record.accepted) return []
      if (status !== 'held') throw notInState('held', record)
      return [{ type: 'IngestAccepted', ingest_id }]
    case 'PickPerson':
      if (status === 'needs_review') return [{ type: 'IngestPersonPicked', contact_id: command.contact_id }]
      throw notInState('in review', record)
    case 'DiscardIngest':
      if (status === 'discarded') return []
      if (status !== 'held' && status !== 'needs_review') throw notInState('held or in review', record)
      return [{ type: 'IngestDiscarded', reason: 'person', note: command.note }]
  }
}

const notInState = (wanted: string, { status }: IngestRecord) =>
  new Rejection('invalid_transition', `Only a lead that is ${wanted} can be treated so. This one is ${status}.`)

const evolve = (state: IngestStream, event: IngestEvent, recorded: { readonly occurred_at: string }): IngestStream => {
  if (event.type === 'IngestKeyUsed') return { first_ingest_id: event.first_ingest_id }
  const record = evolveRecord(isIngest(state) ? state.record : undefined, event, recorded)
  if (!record) return state
  if (event.type === 'IngestReceived')
    return { record, content: event.content, accepted_at: event.accepted_at, picked: undefined }
  if (!isIngest(state)) return state
  return { ...state, record, ...(event.type === 'IngestPersonPicked' && { picked: event.contact_id }) }
}

export const ingest: Decider<IngestCommand, typeof ingestEvents, IngestStream> = {
  category: 'ingest',
  events: ingestEvents,
  initialState: undefined,
  decide,
  evolve,
}
