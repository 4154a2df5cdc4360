import {
  idOf,
  organisationOf,
  type EventOf,
  type EventShapes,
  type Metadata,
  type RecordedEvent,
} from '#domain/event.ts'
import type { ColumnType, Projection, Row } from './projection.ts'

type Values = {
  readonly uuid: string
  readonly text: string
  readonly boolean: boolean
  readonly integer: number
  readonly bigint: number
  readonly date: string
  readonly timestamptz: string
  readonly json: unknown
}

/** A column that is no field of the document: `before` is what it held until then. */
type Made<Document, Event> = {
  readonly [Type in ColumnType]: {
    readonly type: Type
    readonly of: (
      document: Document,
      recorded: RecordedEvent,
      event: Event,
      before: Values[Type] | null | undefined,
    ) => Values[Type] | null
  }
}[ColumnType]

/** A type alone stands for the field of that name, which must have it. */
type Fitting<Columns, Document> = {
  readonly [Name in keyof Columns]: Columns[Name] extends ColumnType
    ? Name extends keyof Document
      ? Document[Name] extends Values[Columns[Name]] | null
        ? Columns[Name]
        : never
      : Name extends 'document'
        ? 'json'
        : never
    : Columns[Name]
}

type Key = Readonly<Record<string, string | number>>

type ValueOf<Shapes extends EventShapes, Document> = (
  document: Document,
  recorded: RecordedEvent,
  event: EventOf<Shapes>,
  row: Row | undefined,
) => unknown

type Definition<Shapes extends EventShapes, Document, Columns> = Pick<
  Projection<Shapes, Row, string>,
  | 'name'
  | 'version'
  | 'categories'
  | 'events'
  | 'awaited'
  | 'awaitedByDeliveries'
  | 'sharesRows'
  | 'place'
  | 'holdsNothingPersonal'
> & {
  /** The columns of the key behind the organisation; by default the id alone. */
  readonly key?: Readonly<Record<string, ColumnType>>
  /**
   * The records that an event concerns; by default the one on whose stream it stands. The organisation is the one that caused the
   * event, unless a key names another.
   */
  readonly keys?: (event: EventOf<Shapes>, recorded: RecordedEvent) => readonly Key[]
  /** The document after an event. Undefined: the record never began, which is an error; null: there is nothing to show. */
  readonly evolve: (
    document: Document | undefined,
    event: EventOf<Shapes>,
    metadata: Metadata,
    recorded: RecordedEvent,
  ) => Document | undefined | null
  /** In their order in the table, `document` among them. */
  readonly columns: Columns & Fitting<Columns, Document>
  readonly indexes?: readonly string[]
}

/** A read model that keeps each record as a document, beside columns by which it is found. */
export const documentProjection = <
  Shapes extends EventShapes,
  Document extends object,
  const Columns extends Readonly<Record<string, ColumnType | Made<Document, EventOf<Shapes>>>>,
>({
  key = { id: 'uuid' },
  keys = (_event, { stream }) => [{ id: idOf(stream) }],
  evolve,
  columns,
  indexes,
  ...rest
}: Definition<Shapes, Document, Columns>): Projection<Shapes, Row & { readonly document: Document }, string> => {
  const all = Object.entries<ColumnType | Made<Document, EventOf<Shapes>>>(columns)
  const types = all.map(([name, column]) => [name, typeof column === 'string' ? column : column.type] as const)
  const valueOf = (name: string, column: ColumnType | Made<Document, EventOf<Shapes>>): ValueOf<Shapes, Document> => {
    if (name === 'document') return (document) => document
    // As `Fitting` has checked.
    if (typeof column === 'string') return (document) => (document as Row)[name]
    // What the column held was made by itself.
    return (document, recorded, event, row) => column.of(document, recorded, event, row?.[name] as never)
  }
  const values = all.map(([name, column]) => [name, valueOf(name, column)] as const)
  return {
    ...rest,
    table: {
      columns: { organisation_id: 'uuid', ...key, ...Object.fromEntries(types) },
      key: ['organisation_id', ...Object.keys(key)],
      ...(indexes && { indexes }),
    },

    keys: (event, recorded) =>
      keys(event, recorded).map((own) =>
        'organisation_id' in own ? own : { organisation_id: organisationOf(recorded), ...own },
      ),

    project: (row, event, recorded, own) => {
      const document = evolve(row?.document, event, recorded.metadata, recorded)
      if (document === null) return undefined
      if (!document)
        throw new Error(`${event.type} of ${JSON.stringify(own)} in ${rest.name}, which was never created.`)
      const made = values.map(([name, value]) => [name, value(document, recorded, event, row)] as const)
      return { ...own, ...Object.fromEntries(made), document }
    },
  }
}

/** The record on whose stream the event stands. */
export const streamId = { type: 'uuid', of: (_document: unknown, { stream }: RecordedEvent) => idOf(stream) } as const

/** Where in the log the record last changed. */
export const position = {
  type: 'text',
  of: (_document: unknown, recorded: RecordedEvent) => recorded.position,
} as const

/** Each event has a row of its own. */
export const recordedId = (_event: unknown, { id }: RecordedEvent) => [{ id }]

/** When the event happened. */
export const happenedAt = {
  type: 'timestamptz',
  of: (_document: unknown, { metadata }: RecordedEvent) => metadata.occurred_at,
} as const
