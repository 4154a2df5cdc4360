import { expect, test } from 'vitest'
import { z } from 'zod'
import {
  Actor,
  categoryOf,
  event,
  fromStored,
  NewerEvent,
  idOf,
  isPersonal,
  Metadata,
  organisationOf,
  partsOf,
  personal,
  toStored,
} from '#domain/event.ts'

/** Version 1 had pounds, version 2 pence, and version 3 says for what. */
const shapes = {
  Paid: event(
    { pence: z.int(), reason: z.string() },
    {
      upcasts: [
        ({ pounds }) => ({ pence: Number(pounds) * 100 }),
        ({ pence }) => ({ pence: Number(pence), reason: 'premium' }),
      ],
    },
  ),
  Refunded: event({ pence: z.int() }),
}

test('the version of an event is one more than its upcasts', () => {
  expect([shapes.Paid.version, shapes.Refunded.version]).toEqual([3, 1])
})

test.each([
  [1, { pounds: 5 }],
  [2, { pence: 500 }],
  [3, { pence: 500, reason: 'premium' }],
])('an event stored as version %i is read as the newest', (schema_version, data) => {
  expect(fromStored(shapes, { type: 'Paid', schema_version, data })).toEqual({
    type: 'Paid',
    pence: 500,
    reason: 'premium',
  })
})

test('what an older version is lifted to must fit the newest shape; the newest was checked when it was stored', () => {
  expect(() => fromStored(shapes, { type: 'Paid', schema_version: 1, data: { pounds: 'x' } })).toThrow(z.ZodError)
  expect(fromStored(shapes, { type: 'Refunded', schema_version: 1, data: { pence: 'x' } })).toEqual({
    type: 'Refunded',
    pence: 'x',
  })
})

test('an event is stored by its type and version, without what its shape does not name', () => {
  const refunded = { type: 'Refunded', pence: 5, other: 1 } as const

  expect(toStored(shapes, refunded)).toEqual({ type: 'Refunded', schema_version: 1, data: { pence: 5 } })
  expect(() => toStored(shapes, { type: 'Refunded', pence: 0.5 })).toThrow(z.ZodError)
})

test('an event that a newer version of the service has stored cannot be read by this one', () => {
  const newer = { type: 'Refunded', schema_version: 2, data: { pence: 5 } }
  const unknown = { type: 'Lost', schema_version: 1, data: {} }
  const read = (stored: typeof newer | typeof unknown) => () => fromStored(shapes, stored)

  expect(read(newer)).toThrow(NewerEvent)
  expect(read(newer)).toThrow('This version knows Refunded up to version 1, and not version 2: upgrade this process.')
  expect(read(unknown)).toThrow(NewerEvent)
  expect(read(unknown)).toThrow('This version knows no event called Lost: upgrade this process.')
})

test('an event of no known type is not stored', () => {
  expect(() => toStored(shapes as never, { type: 'Lost' } as never)).toThrow('There is no event called Lost.')
})

test('a part that is marked as personal is, and what it was marked from is not', () => {
  const Name = z.string()
  const Person = z.object({ name: Name, born: z.iso.date() })
  const marked = personal(Person)

  expect([isPersonal(marked), isPersonal(marked.shape.name), isPersonal(marked.shape.born)]).toEqual([true, true, true])
  expect([isPersonal(Person), isPersonal(Name)]).toEqual([false, false])
  expect(isPersonal(personal(Name))).toBe(true)
  expect(marked.parse({ name: 'Anna', born: '1990-01-15' })).toEqual({ name: 'Anna', born: '1990-01-15' })
  expect(
    Object.values(marked.partial().shape).every((field) => partsOf(field).some(([, part]) => isPersonal(part))),
  ).toBe(true)
})

test('the personal fields of an event are those that are personal data or contain some', () => {
  const { personal: fields, subject } = event(
    {
      plain: z.string(),
      name: personal(z.string()),
      list: z.array(z.object({ name: personal(z.string()) })),
      either: z.union([z.int(), personal(z.string())]).nullable(),
      byKey: z.record(personal(z.string()), z.int()),
      byValue: z.record(z.string(), personal(z.string())).optional(),
      defaulted: personal(z.string()).default(''),
      numbers: z.array(z.int()).readonly(),
    },
    { subject: ({ plain }, stream) => `${plain} of ${stream}` },
  )

  expect(fields).toEqual(['name', 'list', 'either', 'byKey', 'byValue', 'defaulted'])
  expect(subject({ plain: 'x' }, 'y')).toBe('x of y')
  expect(shapes.Paid.subject({}, 'y')).toBeNull()
})

test('the parts of a shape are named by their place in a path', () => {
  const [text, number] = [z.string(), z.int()]
  const namesOf = (schema: z.ZodType) => partsOf(schema).map(([name]) => name)

  expect(partsOf(z.object({ text, number }))).toEqual([
    ['text', text],
    ['number', number],
  ])
  expect(partsOf(z.array(text))).toEqual([['[]', text]])
  expect(partsOf(z.record(text, number))).toEqual([
    ['{key}', text],
    ['{}', number],
  ])
  expect(partsOf(z.union([text, number]))).toEqual([
    ['', text],
    ['', number],
  ])
  for (const schema of [text.nullable(), text.optional(), text.readonly(), text.default('')])
    expect(partsOf(schema)).toEqual([['', text]])
  expect(namesOf(text)).toEqual([])
})

test.each([
  ['a transform', z.string().transform(Number)],
  ['a catch', z.string().catch('')],
  ['a reference', z.lazy(() => z.string())],
])('the shape of an event is plain JSON, without %s', (_, schema) => {
  expect(() => partsOf(schema)).toThrow(/The shape of an event is plain JSON: \w+ is not known here\./)
})

test('a stream is named after its category and its id', () => {
  expect(categoryOf('application-3f1b-5c')).toBe('application')
  expect(idOf('application-3f1b-5c')).toBe('3f1b-5c')
})

const metadata = {
  organisation_id: null,
  actor: { type: 'system', id: null },
  correlation_id: 'c',
  causation_id: null,
  occurred_at: '2026-01-15T12:00:00.000Z',
} as const

test('an event belongs to an organisation', () => {
  expect(organisationOf({ type: 'Paid', id: '1', metadata: { ...metadata, organisation_id: 'o' } })).toBe('o')
  expect(() => organisationOf({ type: 'Paid', id: '1', metadata })).toThrow('Paid 1 belongs to no organisation.')
})

test('an event says who caused it, and a reaction’s event what it reacted to', () => {
  const cause = { reaction: 'r', stream: 's', position: '1' }

  expect(Actor.shape.type.options).toEqual(['api', 'operator', 'system', 'user'])
  expect(Metadata.parse(metadata)).toEqual(metadata)
  expect(Metadata.parse({ ...metadata, cause })).toEqual({ ...metadata, cause })
  expect(Metadata.safeParse({ ...metadata, cause: {} }).success).toBe(false)
  expect(Metadata.safeParse({ ...metadata, actor: {} }).success).toBe(false)
})
