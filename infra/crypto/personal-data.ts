import {
  idOf,
  isPersonal,
  partsOf,
  type EventShapes,
  type Json,
  type NewEvent,
  type RecordedEvent,
} from '#domain/event.ts'
import { z } from 'zod'
import { OwnError } from '#domain/own-error.ts'
import { reasonOf } from '../reason.ts'
import { CannotUnseal, decrypt, encrypt } from './aead.ts'
import type { DataKey } from './data-key-rows.ts'
import type { FoundKey } from './data-keys.ts'
import { ErasedEvent, erasedData, subjectErased, UnreadableEvent } from './erased.ts'
import { bindingBytes } from './seal.ts'
import { installationKeys, subjectOfStream } from './subjects.ts'

/**
 * The fields of an event's data that are marked as personal, as they are stored: sealed together as one value, in place
 * of the fields, with the id of the data key.
 */
const field = '$personal'
const Sealed = z.object({ key: z.uuid(), sealed: z.string() })
type Sealed = z.infer<typeof Sealed>

const sealedIn = ({ data }: Pick<NewEvent, 'data'>): Sealed | undefined =>
  // What we have sealed ourselves.
  data[field] as Sealed | undefined

/** The data key that opens an event; undefined when nothing of it is sealed. */
export const keyIdOf = (event: Pick<NewEvent, 'data'>): string | undefined => sealedIn(event)?.key

const bindingOf = (stream: string, { id, metadata }: Pick<NewEvent, 'id' | 'metadata'>): Buffer =>
  bindingBytes([metadata.organisation_id ?? '', stream, id.toLowerCase(), 'personal data'])

type Tells = (value: unknown) => boolean
const never: Tells = () => false

/** Says whether a value of a schema holds something of a person in a part that is marked as personal. */
const tellsOf = (schema: z.core.$ZodType): Tells => {
  if (isPersonal(schema) || schema instanceof z.ZodUnion) return (value) => !tellsOfNobody(value)
  const parts = partsOf(schema)
    .map(([name, part]) => [name, tellsOf(part)] as const)
    .filter(([, tells]) => tells !== never)
  if (parts.length === 0) return never
  if (schema instanceof z.ZodObject)
    return (value) => isObject(value) && parts.some(([name, tells]) => tells(value[name]))
  // The keys of a record may be personal, too. Any other schema is around the one that matters.
  const isMany = schema instanceof z.ZodArray || schema instanceof z.ZodRecord
  return (value) => {
    const values = isMany ? (isObject(value) ? [...Object.keys(value), ...Object.values(value)] : []) : [value]
    return parts.some(([, tells]) => values.some(tells))
  }
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

type Compiled = {
  readonly personal: readonly string[]
  readonly tells: (data: Json) => boolean
  readonly subject: EventShapes[string]['subject']
  readonly part: EventShapes[string]['part']
  readonly alsoOfInstallation: boolean
  readonly erased: Json
  /** Lifts the rest of an erased event's data from an earlier version to the newest; fails if it does not fit. */
  readonly lift: (version: number, data: Json) => Json
  readonly version: number
}

export type PersonalDataOptions = {
  /** True where events may be stored whose types are not among the shapes. */
  readonly allowsOtherTypes?: boolean
}

const generatedId = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Nothing, or what a program generated, such as most idempotency keys. */
const tellsOfNobody = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (typeof value === 'string' && generatedId.test(value)) ||
  (typeof value === 'object' && Object.values(value).every(tellsOfNobody))

/** Sealing and opening for each type of event, worked out once. */
export const personalDataOf = (shapes: EventShapes, { allowsOtherTypes = false }: PersonalDataOptions = {}) => {
  const compiled = new Map<string, Compiled>()
  for (const [type, shape] of Object.entries(shapes))
    if (shape.personal.length > 0) {
      const erased = erasedData(shape)
      compiled.set(type, {
        personal: shape.personal,
        tells: tellsOf(shape.schema),
        subject: shape.subject,
        part: shape.part,
        alsoOfInstallation: shape.alsoOfInstallation,
        erased,
        lift: (version, data) =>
          shape.schema.parse({
            ...shape.upcasts.slice(version - 1).reduce((older, upcast) => upcast(older), { ...data, ...erased }),
            ...erased,
          }),
        version: shape.version,
      })
    }

  return {
    /** The subject whose data key seals an event; undefined when nothing in it tells of a person. */
    subjectOf: (stream: string, { type, data, metadata }: NewEvent) => {
      const shape = compiled.get(type)
      if (!shape) {
        // Which fields of an unlisted event are personal is unknown.
        if (!allowsOtherTypes && !Object.hasOwn(shapes, type))
          throw new OwnError(`${type} is not among the stored events. Add its shape to domain/stored-events.ts.`)
        return undefined
      }
      // There is nothing to hide, and no key to make for an application that nobody has answered yet.
      if (!shape.tells(data)) return undefined
      if (metadata.organisation_id === null && !shape.alsoOfInstallation)
        throw new OwnError(`${type} in ${stream} holds personal data and belongs to no organisation.`)
      const person = shape.subject(data, idOf(stream))
      const subject = subjectOfStream(stream, person, shape.part(data))
      return { organisation_id: metadata.organisation_id ?? installationKeys, subject }
    },

    seal: (stream: string, event: NewEvent, { id, key }: DataKey): NewEvent => {
      const personal = compiled.get(event.type)?.personal ?? []
      const data: Record<string, unknown> = {}
      const hidden: Record<string, unknown> = {}
      for (const [name, value] of Object.entries(event.data)) (personal.includes(name) ? hidden : data)[name] = value
      const sealed = encrypt(key, JSON.stringify(hidden), bindingOf(stream, event)).toString('base64')
      data[field] = { key: id, sealed } satisfies Sealed
      return { ...event, data }
    },

    /** An event as it would be if those whom it tells of were erased. */
    mask: (event: RecordedEvent): RecordedEvent => {
      const shape = compiled.get(event.type)
      const { [field]: sealed, ...data } = event.data
      return sealed === undefined && !shape?.tells(data) ? event : erase(event, data, shape)
    },

    /**
     * An event as it was appended. Without its key since the subject was erased, with empty values in place of what was
     * personal. One that cannot be opened for any other reason fails when its data is read, so that it stops nothing but
     * the record that it belongs to.
     */
    open: (event: RecordedEvent, key: FoundKey | undefined): RecordedEvent => {
      const sealed = sealedIn(event)
      if (!sealed) return event
      const { [field]: _, ...data } = event.data
      if (key === 'erased') return erase(event, data, compiled.get(event.type))
      if (key === undefined) return unreadable(event, data, `its data key ${sealed.key} is missing`)
      if (key instanceof CannotUnseal)
        return unreadable(event, data, `its data key ${sealed.key} cannot be opened: ${key.message}`)
      try {
        const hidden = decrypt(key, Buffer.from(sealed.sealed, 'base64'), bindingOf(event.stream, event))
        return { ...event, data: Object.assign(data, JSON.parse(hidden.toString()) as Json) }
      } catch (error) {
        if (error instanceof CannotUnseal) return unreadable(event, data, error.message)
        throw error
      }
    },
  }
}

const erase = (event: RecordedEvent, data: Json, shape: Compiled | undefined): RecordedEvent => {
  // One of a newer version stays so, for `fromStored` to say it.
  if (!shape || event.schema_version > shape.version) return { ...event, data, erased: true }
  if (event.schema_version === shape.version) return { ...event, data: { ...data, ...shape.erased }, erased: true }
  try {
    return { ...event, schema_version: shape.version, data: shape.lift(event.schema_version, data), erased: true }
  } catch (error) {
    const reason = `${subjectErased}: ${reasonOf(error)}`
    return unreadable(event, data, reason, ErasedEvent)
  }
}

const unreadable = (event: RecordedEvent, data: Json, reason: string, Why = UnreadableEvent): RecordedEvent => ({
  ...event,
  data: Object.defineProperty({ ...data }, field, {
    enumerable: true,
    get: () => {
      throw new Why(`${event.type} ${event.id} in ${event.stream} cannot be read: ${reason}`)
    },
  }),
})
