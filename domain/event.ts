import { z } from 'zod'
import { OwnError } from './own-error.ts'

export type Json = Readonly<Record<string, unknown>>

/** Lifts the data of one version of an event to the next. */
type Upcast = (data: Json) => Json

const marks = z.registry<{ readonly personal: true }>()

/**
 * Marks a part of an event's data as personal: it is stored encrypted under the key of a person. The mark is on a copy, so
 * that the schema without it can be used elsewhere. An object is marked with all of its fields, so that what is made of it
 * (`.partial()`, `.pick()`) is marked too.
 */
export const personal = <Schema extends z.ZodType>(schema: Schema): Schema => {
  const copy = schema instanceof z.ZodObject ? withFieldsMarked(schema) : schema.clone()
  marks.add<z.ZodType>(copy, { personal: true })
  return copy as Schema
}

const withFieldsMarked = (schema: z.ZodObject<Readonly<Record<string, z.ZodType>>>) => {
  const shape = Object.fromEntries(Object.entries(schema.shape).map(([name, field]) => [name, personal(field)]))
  return schema.clone({ ...schema.def, shape }, { parent: true })
}

export const isPersonal = (schema: z.core.$ZodType): boolean => marks.get(schema)?.personal ?? false

/** The schemas that a schema is made of, by the name that their place has in a path; the empty name is no place of its own. */
export const partsOf = (schema: z.core.$ZodType): readonly (readonly [name: string, part: z.core.$ZodType])[] => {
  if (schema instanceof z.ZodObject) return Object.entries(schema.shape)
  if (schema instanceof z.ZodArray) return [['[]', schema.element]]
  if (schema instanceof z.ZodRecord)
    return [
      ['{key}', schema.keyType],
      ['{}', schema.valueType],
    ]
  if (schema instanceof z.ZodUnion) return schema.options.map((option) => ['', option])
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional || schema instanceof z.ZodReadonly)
    return [['', schema.unwrap()]]
  if (schema instanceof z.ZodDefault) return [['', schema.unwrap()]]
  if ('innerType' in schema._zod.def || 'in' in schema._zod.def || 'getter' in schema._zod.def)
    throw new Error(`The shape of an event is plain JSON: ${schema._zod.def.type} is not known here.`)
  return []
}

const holdsPersonal = (schema: z.core.$ZodType): boolean =>
  isPersonal(schema) || partsOf(schema).some(([, part]) => holdsPersonal(part))

type DataOf<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>>

type Options<Data> = {
  /** The id of the person whom the event is about, when it names one; `streamId` is that of the event's own stream. */
  readonly subject?: (data: Data, streamId: string) => string | null
  /** The part of the record that it belongs to, where that may be erased before the rest. */
  readonly part?: (data: Data) => string
  /** The way from each older version to the next, the oldest first. */
  readonly upcasts?: readonly Upcast[]
  /** Events of people who work for the whole installation belong to no organisation. */
  readonly alsoOfInstallation?: true
}

/**
 * The newest shape of an event, and the way to it from every older one.
 * The version is counted, not written: to add an upcast is to add a version. A test fails when the shape of a version
 * changes, and keeps a sample of each (`test/stored-events/samples/`).
 */
export const event = <Shape extends z.ZodRawShape>(shape: Shape, options: Options<DataOf<Shape>> = {}) => {
  const { subject = () => null, part, upcasts = [], alsoOfInstallation = false } = options
  const fields: readonly (readonly [string, z.core.$ZodType])[] = Object.entries(shape)
  return {
    schema: z.object(shape),
    upcasts,
    version: upcasts.length + 1,
    alsoOfInstallation,
    /** The fields of the data that are, or contain, personal data. */
    personal: fields.filter(([, schema]) => holdsPersonal(schema)).map(([field]) => field),
    /** The subject whose key encrypts them; null: that of the event's own stream. */
    subject: (data: Json, streamId: string): string | null => subject(data as DataOf<Shape>, streamId),
    part: (data: Json): string | null => part?.(data as DataOf<Shape>) ?? null,
  }
}

export type EventShapes = Readonly<Record<string, ReturnType<typeof event>>>

export type EventOf<Shapes extends EventShapes> = {
  [Type in keyof Shapes & string]: Readonly<{ type: Type } & z.output<Shapes[Type]['schema']>>
}[keyof Shapes & string]

/**
 * Who caused an event: an API application, a person of the team (`user`, by their id), a program with a key of the operator's
 * (`operator`, by its name), or the service itself.
 */
export const Actor = z.object({ type: z.enum(['api', 'operator', 'system', 'user']), id: z.string().nullable() })
export type Actor = z.infer<typeof Actor>

/** The origin of an event. `occurred_at` is when it happened, as an ISO 8601 instant; the log adds when it was recorded. */
export const Metadata = z.object({
  organisation_id: z.string().nullable(),
  actor: Actor,
  correlation_id: z.string(),
  causation_id: z.string().nullable(),
  occurred_at: z.iso.datetime(),
  /** Of an event that a reaction appended: which reaction, and the stream and the position of what it reacted to. */
  cause: z.object({ reaction: z.string(), stream: z.string(), position: z.string() }).optional(),
})
export type Metadata = z.infer<typeof Metadata>

/** An event on its way into the log. `id` is a UUID of our making, by which a repeated append is known. */
export type NewEvent = {
  readonly id: string
  readonly type: string
  readonly schema_version: number
  readonly data: Json
  readonly metadata: Metadata
}

/** A place in the one total order of the log. Opaque, but later places compare greater as strings. */
export type Position = string & { readonly position: unique symbol }

/** An event as the log holds it. `revision` counts from 0 within its stream. */
export type RecordedEvent = NewEvent & {
  readonly stream: string
  readonly revision: number
  readonly position: Position
  readonly recorded_at: Date
  /** Whoever it was about was erased: what was personal in it is empty. */
  readonly erased?: true
}

type Stored = Pick<NewEvent, 'type' | 'schema_version' | 'data'>

/** Refuses an event that does not fit its own shape: what is stored can always be read. */
export const toStored = <Shapes extends EventShapes>(shapes: Shapes, { type, ...data }: EventOf<Shapes>): Stored => ({
  type,
  schema_version: shapeOf(shapes, type).version,
  data: shapeOf(shapes, type).schema.parse(data),
})

/**
 * An event whose type or version this code does not know: a process of a newer version has stored it, as happens while
 * processes are upgraded one after the other. Nothing is decided or projected without it; a newer process does that.
 */
export class NewerEvent extends OwnError {
  override readonly name = 'NewerEvent'
}

/** An event lifted to its newest version. What was checked when it was stored is not checked again. */
export const fromStored = <Shapes extends EventShapes>(shapes: Shapes, { type, schema_version, data }: Stored) => {
  const shape = shapes[type]
  if (!shape) throw new NewerEvent(`This version knows no event called ${type}: upgrade this process.`)
  const { schema, upcasts, version } = shape
  if (schema_version === version) return { ...data, type } as EventOf<Shapes>
  if (schema_version > version)
    throw new NewerEvent(
      `This version knows ${type} up to version ${version}, and not version ${schema_version}: upgrade this process.`,
    )
  const newest = upcasts.slice(schema_version - 1).reduce((older, upcast) => upcast(older), data)
  return { ...schema.parse(newest), type } as EventOf<Shapes>
}

const shapeOf = (shapes: EventShapes, type: string) => {
  const shape = shapes[type]
  if (!shape) throw new OwnError(`There is no event called ${type}.`)
  return shape
}

/** `application-3f1b…` → `application`. */
export const categoryOf = (stream: string): string => stream.slice(0, stream.indexOf('-'))

/** `application-3f1b…` → `3f1b…`. */
export const idOf = (stream: string): string => stream.slice(stream.indexOf('-') + 1)

/** The organisation that an event belongs to. Only those of operator keys, and of other programs, have none. */
export const organisationOf = ({ type, id, metadata }: Pick<RecordedEvent, 'type' | 'id' | 'metadata'>): string => {
  if (metadata.organisation_id === null) throw new OwnError(`${type} ${id} belongs to no organisation.`)
  return metadata.organisation_id
}
