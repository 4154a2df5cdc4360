import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { route, teamRoute } from '#infra/http/route.ts'
import { nameOf, unknownKeysOf } from '#infra/http/unknown-keys.ts'
import { serve } from './serve.ts'

const save = route(
  {
    method: 'patch',
    address: '/saved',
    summary: 'Save.',
    tag: 'Test',
    access: { kind: 'public' },
    body: z.object({
      answers: z.record(z.string(), z.unknown()),
      count: z.int().optional(),
      person: z.object({ email: z.string() }).nullish(),
      names: z.record(z.string(), z.string()).optional(),
      events: z
        .array(z.object({ at: z.int(), to: z.union([z.string(), z.object({ a: z.int() })]) }).partial())
        .optional(),
    }),
    answers: { 200: z.object({}) },
  },
  async () => ({ status: 200, body: {} }),
)
const rotate = route(
  {
    method: 'post',
    address: '/rotated',
    summary: 'Rotate.',
    tag: 'Test',
    access: { kind: 'team', roles: ['operator'], showsPersonalData: false },
    body: z.object({ overlap_seconds: z.int().default(0), note: z.unknown().optional() }),
    answers: { 200: z.object({ overlap_seconds: z.int() }) },
  },
  async ({ body }) => ({ status: 200, body }),
)
const listed = (address: string, kind: 'public' | 'team') =>
  route(
    {
      method: 'get',
      address,
      summary: 'List.',
      tag: 'Test',
      access: kind === 'team' ? teamRoute('operator').access : { kind },
      query: z.object({ status: z.string().optional(), limit: z.coerce.number().optional() }),
      answers: { 200: z.object({}) },
    },
    async () => ({ status: 200, body: {} }),
  )
const api = await serve([save, rotate, listed('/listed', 'public'), listed('/admin/listed', 'team')])
afterAll(() => api[Symbol.asyncDispose]())

const ignoredOf = async (body: object) => (await api.patch('/saved', body)).headers.get('x-ignored-fields')

test('a top-level field of a body that is not known is named in a header, while it is ignored', async () => {
  const answer = await api.patch('/saved', { answers: {}, answres: {} })

  expect(answer.status).toBe(200)
  expect(answer.headers.get('x-ignored-fields')).toBe('answres')
})

test('422: of the operator’s requests it is refused: a misspelt overlap must not end a secret at once', async () => {
  const { status, body } = await api.post('/rotated', { overlap_second: 86_400 })

  expect(status).toBe(422)
  expect(body).toEqual({
    error: {
      code: 'validation_failed',
      message: 'Correct overlap_second and send the request again.',
      fields: { overlap_second: 'is not known here; there are overlap_seconds, note' },
    },
  })
  expect(await api.post('/rotated', { overlap_seconds: 5 })).toMatchObject({
    status: 200,
    body: { overlap_seconds: 5 },
  })
})

test('a parameter of the query that is not known is named in the header, too', async () => {
  const answer = await api.get('/listed?statuss=new&limit=5')

  expect(answer.status).toBe(200)
  expect(answer.headers.get('x-ignored-fields')).toBe('statuss')
})

test('422 invalid_parameter: of the operator’s lists it is refused: a misspelt filter must not list everything', async () => {
  const { status, body } = await api.get('/admin/listed?statuss=new&limit=5')

  expect(status).toBe(422)
  expect(body).toEqual({
    error: {
      code: 'invalid_parameter',
      message: 'Correct statuss and send the request again.',
      fields: { statuss: 'is not known here; there are status, limit' },
    },
  })
  expect((await api.get('/admin/listed?status=new')).status).toBe(200)
})

test('422: a text of the operator’s that cannot be stored is refused with its place', async () => {
  const fieldsOf = async (note: unknown) => (await api.post('/rotated', { overlap_seconds: 5, note })).body

  expect(await fieldsOf([{ name: 'a\0b' }])).toMatchObject({
    error: { code: 'validation_failed', fields: { 'note[0].name': 'must not hold the character U+0000' } },
  })
  expect(await fieldsOf({ 'x\ud83d': 1 })).toMatchObject({
    error: { fields: { note: 'has a key that must be valid Unicode: it holds half of a surrogate pair' } },
  })
  expect(await fieldsOf({ 'x🎉': 'y🎉' })).toMatchObject({ overlap_seconds: 5 })
})

test('422 validation_failed: a text that cannot be stored is refused with its place, of whoever sends it', async () => {
  const fieldsOf = async (body: object) => (await api.patch('/saved', { answers: {}, ...body })).body
  const nul = 'must not hold the character U+0000'

  expect(await fieldsOf({ person: { email: 'a\0b' } })).toMatchObject({
    error: { code: 'validation_failed', fields: { 'person.email': nul } },
  })
  expect(await fieldsOf({ events: [{ at: 1 }, { to: 'x\ud83d' }] })).toMatchObject({
    error: { fields: { 'events[1].to': 'must be valid Unicode: it holds half of a surrogate pair' } },
  })
  expect(await fieldsOf({ names: { 'a\0b': 'x' } })).toMatchObject({
    error: { fields: { names: `has a key that ${nul}` } },
  })
})

test('what an operation takes whatever it is, it checks by itself, and what is not known is ignored', async () => {
  const whatever = { deep: [{ 'a\0b': '\ud83d' }] }

  expect(
    (await api.patch('/saved', { answers: whatever, unknown: whatever, person: { 'a\0b': 1, email: '' } })).status,
  ).toBe(200)
})

test('it is named when the request is refused, too: then it is the likeliest reason', async () => {
  const answer = await api.patch('/saved', { answres: {} })

  expect(answer.status).toBe(422)
  expect(answer.headers.get('x-ignored-fields')).toBe('answres')
})

test('what is known, and what may have any name, is not named', async () => {
  expect(await ignoredOf({ answers: { anything: { deeper: 1 } }, count: 1 })).toBeNull()
})

test('a field is named by its place, however deep: consent under a misspelt purpose would be lost unseen', async () => {
  const body = {
    answers: {},
    person: { email: 'a@example.com', dob: 1 },
    events: [{ at: 1 }, { att: 1, to: { b: 2 } }],
  }

  expect(await ignoredOf(body)).toBe('person.dob, events[1].att, events[1].to.b')
})

test('any name can be told of: as much of it as a header can hold', async () => {
  expect(await ignoredOf({ answers: {}, 'größe\r\nX: 1': 1 })).toBe('gr%C3%B6%C3%9Fe%0D%0AX%3A%201')
  expect(await ignoredOf({ answers: {}, ['x'.repeat(10_000)]: 1 })).toBe('x'.repeat(100))
  expect(await ignoredOf({ answers: {}, [`${'x'.repeat(99)}😀`]: 1 })).toBe(`${'x'.repeat(99)}%EF%BF%BD`)
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`n${index}`, index]))
  expect((await ignoredOf({ answers: {}, ...many }))?.split(', ')).toEqual([
    ...Object.keys(many).slice(0, 10),
    'and 990 more',
  ])
})

test.each([
  ['one of several forms', z.union([z.object({ a: z.int() }), z.object({ b: z.int() })]), ['c']],
  ['chosen by a key', z.discriminatedUnion('a', [z.object({ a: z.literal(1), b: z.int() })]), ['c']],
  ['changed when it is read', z.object({ a: z.int(), b: z.int() }).transform(({ a }) => a), ['c']],
  ['with any further keys', z.looseObject({ a: z.int() }), []],
  ['refused with further keys', z.strictObject({ a: z.int() }), []],
  ['with any keys', z.record(z.string(), z.int()), []],
])('of a body that is %s, the keys are known', (_what, schema, unknown) => {
  expect(unknownKeysOf(schema, { a: 1, b: 1, c: 1 }).map(nameOf)).toEqual(unknown)
})

test('the header stays short, whatever the names are, and says how many there are beyond those that it has', async () => {
  const long = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`${index}${'保'.repeat(90)}`, 1]))
  const many = Object.fromEntries(Array.from({ length: 14 }, (_, index) => [`f${index}`, 1]))

  const ofLong = String(await ignoredOf({ answers: {}, ...long }))
  expect(ofLong.length).toBeLessThan(1_100)
  expect(ofLong).toMatch(/, and 299 more$/)
  expect(await ignoredOf({ answers: {}, ...many })).toBe('f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, and 4 more')
})
