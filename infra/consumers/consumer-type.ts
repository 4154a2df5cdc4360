import type { Pool, PoolClient, QueryConfig } from 'pg'
import type { Position, RecordedEvent } from '#domain/event.ts'
import type { EventLog } from '../event-log/event-log.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Move, Role } from './checkpoint.ts'
import type { Leases } from './lease.ts'
import type { Progress } from './progress.ts'
import type { Traffic } from '../request-load.ts'

/** The parts that all consumers of a process share. */
export type ConsumerParts = {
  readonly eventLog: EventLog
  readonly pool: Pool
  readonly leases: Leases
  readonly log: Log
  readonly metrics?: Pick<Metrics, 'projectedEvents' | 'lag' | 'setAside'>
  /** The role that they belong to, as operators are shown it. */
  readonly role?: Role | undefined
  /** Ends the consumer: it finishes the current batch and saves its position. */
  readonly signal: AbortSignal
}

/** Takes a statement whose result is not used. */
export type Sender = { readonly query: (statement: QueryConfig) => Promise<unknown> }

/** Says of an event that it cannot be handled: the record that it belongs to is set aside. */
export type SetEventAside = (event: RecordedEvent, error: unknown) => void

/**
 * Handles events in the transaction that moves the checkpoint behind them, so that each counts once. Nothing slow belongs
 * here: once it has written, no reader of the log sees newer events until it ends. Statements given to `last` are sent at the
 * end, together with the checkpoint. The record of an event is the stream that it is in.
 *
 * When it throws, the batch is bisected until the event that fails is found; it is quicker to say which events cannot be
 * handled. Such an event must have changed nothing, and nor may later ones of its stream.
 *
 * A function that it returns is called once the transaction is committed: before that, nobody else sees what it has written.
 */
export type Handle = (
  events: readonly RecordedEvent[],
  db: PoolClient,
  last: Sender,
  setEventAside: SetEventAside,
) => Promise<void | (() => void)>

/** A change written together with the move of the checkpoint, in one statement, which is a transaction of its own. */
export type Change = {
  /** Answers one row exactly if the checkpoint was moved, and has changed nothing otherwise. */
  readonly statement: (move: Move) => QueryConfig
  /** The rows that change, as they are afterwards, by what identifies them; undefined if they are gone. */
  readonly rows: ReadonlyMap<string, object | undefined>
}

/** Rows as they are once everything that came before is written, so that they need not be read; undefined if they are gone. */
export type KnownRows = Pick<Change['rows'], 'has' | 'get'>

export type InOneStatement = {
  /**
   * Works out what these events change, from rows that it reads before anything is written. Nobody else writes such rows
   * unless the consumer loses its checkpoint, and then the change is not written. Rows that are not `known` are read.
   * Undefined when nothing changes.
   */
  readonly changeOf: (
    events: readonly RecordedEvent[],
    setEventAside: SetEventAside,
    known: KnownRows,
  ) => Promise<Change | undefined>
  /** Handles a record that was set aside again from its first event, up to where the consumer is. */
  readonly refold: Refold
}

export type Refold = (
  pages: AsyncIterable<readonly RecordedEvent[]>,
  db: PoolClient,
  last: Sender,
  setEventAside: SetEventAside,
  upTo: Position,
) => Promise<void>

export type InTransaction =
  | { readonly handle: Handle }
  | {
      /** Reads what these events need, from the log for example, before their transaction begins, and then handles them. */
      readonly prepareFor: (events: readonly RecordedEvent[]) => Promise<Handle>
    }

/** The handler of these events, with all that it reads before their transaction. */
export const handlerOf = async (consumer: InTransaction, events: readonly RecordedEvent[]): Promise<Handle> =>
  'handle' in consumer ? consumer.handle : consumer.prepareFor(events)

export type Reacting = {
  /**
   * Handles an event before the checkpoint moves behind it: it may come again, and that must not matter. The signal is
   * aborted when the consumer has to stop, or when its lease has ended and another process may have taken over. An event
   * that was set aside and is resumed may come after later events of its record, but not after later ones of its stream;
   * of those that are resumed, only the last one may come again.
   */
  readonly react: (event: RecordedEvent, signal: AbortSignal, how: { readonly resumed: boolean }) => Promise<void>
  /**
   * The record that an event changes, by default the stream that it is in. Events of one record are handled in their
   * order, those of different records at once. When one cannot be handled, its record is set aside.
   */
  readonly recordOf?: (event: RecordedEvent) => string
  /** Handles at most so many events at once; one by default. */
  readonly concurrency?: number
  /**
   * Queues take turns, so that much in one does not delay the others; each keeps its order. All events of a record are in one
   * queue. After a crash, events of some queues may come again that were handled long before.
   */
  readonly queueOf?: (event: RecordedEvent) => string
}

export type Consumer = ConsumerParts & {
  readonly name: string
  readonly version: number
  /** Undefined when it follows all of the log. */
  readonly categories: readonly string[] | undefined
  readonly types?: readonly string[]
  /** True where its rows belong to several records, which therefore cannot be handled again one by one. */
  readonly sharesRows?: boolean | undefined
  /** At most so many events at once; 1,000 by default. */
  readonly batchSize?: number
  /**
   * Pauses up to so long after a batch, the longer the more events it had, so that under load later events are handled
   * together. For consumers that no command waits for, or seldom one.
   */
  readonly restMs?: number
  /** Under heavy traffic it takes a small part of the time, so that requests are answered first. Not for one that commands wait for. */
  readonly givesWayTo?: Pick<Traffic, 'isHeavy'>
  /**
   * The time for which passed-over events stay unsaved; a second by default. For one whose checkpoint other processes wait
   * for, which cannot see how far it really is.
   */
  readonly saveAfterMs?: number
  /**
   * Given only for a consumer that commands wait for, so that a caller can read what it wrote: how far it has come is
   * reported there. It is not part of what all consumers share, so that no command waits for one by accident: one on standby
   * in this process would never move.
   */
  readonly awaitedIn?: Pick<Progress, 'passed'>
  /** Makes what it needs before it starts; called again after every failure. */
  readonly prepare?: () => Promise<void>
  /** The behaviour when its checkpoint is of another version: by default, it goes on from there. */
  readonly atOtherVersion?: 'continue' | 'stop'
} & (InOneStatement | InTransaction | Reacting)
