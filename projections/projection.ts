import type { EventOf, EventShapes, RecordedEvent } from '#domain/event.ts'

/**
 * Types writable in one statement for many rows. Rows come back as they were written: `integer` and `bigint` as numbers,
 * `date` as `YYYY-MM-DD`, `timestamptz` as an ISO 8601 instant in UTC with milliseconds (whatever its form when it was
 * written), `json` as any JSON value with its keys in order, and nothing as null. PostgreSQL can work with neither U+0000 nor
 * half of a surrogate pair: they are kept as U+FFFD.
 */
export type ColumnType = 'uuid' | 'text' | 'boolean' | 'integer' | 'bigint' | 'date' | 'timestamptz' | 'json'

export type Row = Readonly<Record<string, unknown>>

/**
 * A read model: one table, and how events change its rows. It is pure: the runner loads the rows that a batch of events
 * touches, folds the events over them in memory and writes them back together with the checkpoint.
 *
 * `keys` names the rows that an event touches (none: the event is skipped), and `project` returns the new version of each;
 * undefined deletes it. Every event counts once. An event for which either throws sets its stream aside: rows keep what
 * the events before it have made of them, until the stream is resumed and folded again. Raise `version` with every change to the table, to `project` or to
 * what the events are read as: the table is then rebuilt from the first event, next to the one in use. A test fails when
 * that was forgotten (`test/stored-events/`).
 */
export type Projection<Shapes extends EventShapes, Read extends Row, Key extends keyof Read & string> = {
  readonly name: string
  readonly version: number
  readonly categories: readonly string[]
  readonly events: Shapes
  /**
   * Commands wait until it shows what they wrote, by default. `never`: no caller reads it at once. `seldom`: those that come
   * by the thousand do not, and it rests a little between batches for their sake.
   */
  readonly awaited?: 'never' | 'seldom'
  /**
   * Deliveries about records of others wait for it: its checkpoint then follows the log closely, also past events that are
   * not its own.
   */
  readonly awaitedByDeliveries?: true
  readonly table: {
    readonly columns: Readonly<Record<keyof Read & string, ColumnType>>
    /** The primary key; the organisation comes first. */
    readonly key: readonly Key[]
    /** Column lists of further indexes, for example `organisation_id, slug`; ` where slug is not null` leaves the others out. */
    readonly indexes?: readonly string[]
  }
  /**
   * Events of different streams touch the same row. By default a row belongs to one stream, so that a stream can be folded
   * again separately. A row that several streams touch shows the others' events while one of them is set aside, in another
   * order than the log's once that is resumed: the whole table is then rebuilt instead.
   */
  readonly sharesRows?: boolean
  /** It holds nothing that is personal: when a person is erased, its rows stay as they are. */
  readonly holdsNothingPersonal?: true
  /**
   * For a table whose readers go on from the last place that they have seen: the column with the position in the log at which
   * a row last changed, and the one with the id of its stream.
   */
  readonly place?: { readonly column: 'position'; readonly record: keyof Read & string }
  readonly keys: (event: EventOf<Shapes>, recorded: RecordedEvent) => readonly Pick<Read, Key>[]
  /** `before` finds the other rows that the event touches, as they were before it. */
  readonly project: (
    row: Read | undefined,
    event: EventOf<Shapes>,
    recorded: RecordedEvent,
    key: Pick<Read, Key>,
    before?: (key: Pick<Read, Key>) => Read | undefined,
  ) => Read | undefined
}

/** Any projection, for what runs them all: only the projection itself knows the types of its events and rows. */
export type SomeProjection = {
  readonly name: string
  readonly version: number
  readonly categories: readonly string[]
  readonly events: EventShapes
  readonly awaited?: 'never' | 'seldom'
  readonly awaitedByDeliveries?: true
  readonly table: {
    readonly columns: Readonly<Record<string, ColumnType>>
    readonly key: readonly string[]
    readonly indexes?: readonly string[]
  }
  readonly sharesRows?: boolean
  readonly holdsNothingPersonal?: true
  readonly place?: { readonly column: 'position'; readonly record: string }
  readonly keys: (event: never, recorded: RecordedEvent) => readonly Row[]
  readonly project: (row: never, event: never, recorded: RecordedEvent, key: never, before: never) => Row | undefined
}
