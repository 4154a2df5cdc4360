import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openInbound, secret, type Inbound } from './fixture.ts'
import { postBytes, sign } from './sender.ts'

let inbound: Inbound
beforeAll(async () => {
  inbound = await openInbound()
})
afterAll(() => inbound[Symbol.asyncDispose]())

const event = { id: 'E-1', event: { name: 'sale.made' }, outcome: 'sold', at: '2026-01-15T09:00:00Z' }
const other = { event: { name: 'other' } }
const signature = 'X-Integrations-Signature'

/** The newest entry of the log, which was written before the answer. */
const lastEntry = async () => (await inbound.logs('?limit=1'))[0]

test('200: an event is accepted, with an empty body, and logged with its type and size', async () => {
  const { status, text } = await inbound.post(event)

  expect([status, text]).toEqual([200, ''])
  expect(await lastEntry()).toMatchObject({
    direction: 'inbound',
    accepted: true,
    status: 200,
    reason: 'accepted',
    event_type: 'sale.made',
    bytes: JSON.stringify(event).length,
    subject_id: expect.any(String) as unknown,
  })
})

test.each([
  ['of another type', other, 'other_event_type'],
  ['without a type', { event: {} }, 'no_event_type'],
  ['of an update without a policy id', { event: { name: 'policy.changed' }, policy: { ours: 'P-1' } }, 'no_policy_id'],
])('200: an event %s is accepted and ignored', async (_kind, ignored, reason) => {
  expect((await inbound.post(ignored)).status).toBe(200)
  expect(await lastEntry()).toMatchObject({ accepted: true, status: 200, reason, subject_id: null })
})

test.each([
  ['no JSON', '{"event":', 'not_json'],
  ['nothing', '', 'not_json'],
  ['no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'not_json'],
  ['a list', '[]', 'not_an_object'],
  ['null', 'null', 'not_an_object'],
  ['nested 10,000 deep', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`, 'nested_too_deep'],
])('400: a signed body that is %s', async (_kind, body, reason) => {
  const { status, text } = await inbound.post(body)

  expect([status, text]).toEqual([400, ''])
  expect(await lastEntry()).toMatchObject({ accepted: false, status: 400, reason })
})

test('400: a body beyond 256 kB is read no further than needed; its sender still sees the answer', async () => {
  const { status, text } = await inbound.post(JSON.stringify({ ...other, filler: 'x'.repeat(10 * 2 ** 20) }))

  expect([status, text]).toEqual([400, ''])
  expect(await lastEntry()).toMatchObject({ status: 400, reason: 'too_large', bytes: null })
})

test('400: a compressed body is never decompressed', async () => {
  const body = gzipSync(JSON.stringify(other))
  const { status } = await inbound.post(body, { headers: { 'Content-Encoding': 'gzip' } })

  expect(status).toBe(400)
  expect(await lastEntry()).toMatchObject({ reason: 'not_json', bytes: body.length })
})

const body = JSON.stringify(other)
const right = sign(secret, body)
const [t = '', v1 = ''] = right.split(',')
test.each([
  ['no signature', {}, 'no_signature'],
  ['only a time', { [signature]: t }, 'malformed_signature'],
  ['a signature in capitals', { [signature]: `${t},v1=${v1.slice(3).toUpperCase()}` }, 'malformed_signature'],
  ['a signature that is cut short', { [signature]: right.slice(0, -1) }, 'malformed_signature'],
  ['two signatures', { [signature]: `${right},${v1}` }, 'malformed_signature'],
  ['two times', { [signature]: `${right},${t}` }, 'malformed_signature'],
  ['the header twice', { [signature]: [right, right] }, 'malformed_signature'],
  ['a signature by another secret', { [signature]: sign('another', body) }, 'signature_mismatch'],
  ['a signature of another body', { [signature]: sign(secret, `${body} `) }, 'signature_mismatch'],
  ['a time too long ago', { [signature]: sign(secret, body, Date.now() - 400_000) }, 'timestamp_out_of_range'],
  ['a time too far ahead', { [signature]: sign(secret, body, Date.now() + 400_000) }, 'timestamp_out_of_range'],
  ['a time that is no number', { [signature]: `t=now,${v1}` }, 'malformed_signature'],
])('403: %s', async (_kind, headers: Record<string, string | string[]>, reason) => {
  const { status, text } = await postBytes(inbound.urlOf(inbound.main.id), body, headers)

  expect([status, text]).toEqual([403, ''])
  expect(await lastEntry()).toMatchObject({ accepted: false, status: 403, reason, event_type: null })
})

test('other parts of the header are not read', async () => {
  expect((await postBytes(inbound.urlOf(inbound.main.id), body, { [signature]: `v0=abc,${right},x` })).status).toBe(200)
})

test('the signature is read from the header that the firm chose, and from no other', async () => {
  const body = '{"type":"other"}'
  const url = inbound.urlOf(inbound.connectionNamed('own header').id)

  expect((await postBytes(url, body, { 'x-crm-signature': sign(secret, body) })).status).toBe(200)
  expect((await postBytes(url, body, { [signature]: sign(secret, body) })).status).toBe(403)
  expect(await lastEntry()).toMatchObject({ reason: 'no_signature' })
})

test('403 comes before 400: the signature is checked before the JSON', async () => {
  expect((await postBytes(inbound.urlOf(inbound.main.id), 'no JSON', {})).status).toBe(403)
})

test('403: no signing secret is set', async () => {
  const { status, text } = await inbound.post(other, { connection: inbound.connectionNamed('without secret').id })

  expect([status, text]).toEqual([403, ''])
  expect(await lastEntry()).toMatchObject({ reason: 'no_signing_secret' })
})

test('422 validation_failed: what other systems sign with has at least 16 characters', async () => {
  const short = 'a'.repeat(15)
  const refused = { code: 'validation_failed', fields: { 'secrets.webhook_secret': 'needs at least 16 characters' } }
  const { custom_integration_id, id } = inbound.main
  const connections = `${inbound.own}/custom_integrations/${custom_integration_id}/connections`
  const secrets = `${inbound.own}/integration_connections/${id}/secrets`

  const added = await inbound.send('POST', connections, { body: { name: 'short', secrets: { webhook_secret: short } } })
  const changed = await inbound.send('POST', secrets, { body: { secrets: { webhook_secret: short } } })
  const another = await inbound.send('POST', secrets, { body: { secrets: { another: short } } })

  for (const { status, body } of [added, changed]) expect([status, body]).toMatchObject([422, { error: refused }])
  expect(another.status).toBe(200)
  expect((await inbound.post(other)).status).toBe(200)
})

test('404: there is no such connection', async () => {
  const unknown = [crypto.randomUUID(), 'no-id', '%00']
  const answers = await Promise.all(unknown.map(async (connection) => inbound.post(other, { connection })))

  expect(answers.map(({ status, text }) => [status, text])).toEqual(unknown.map(() => [404, '']))
})

test('404: the connection was revoked', async () => {
  const { id } = inbound.connectionNamed('to revoke')
  expect((await inbound.post(other, { connection: id })).status).toBe(200)
  await inbound.send('POST', `${inbound.own}/integration_connections/${id}/revoke`, { body: {} })

  const { status, text } = await inbound.post(other, { connection: id })

  expect([status, text]).toEqual([404, ''])
  expect(await lastEntry()).toMatchObject({ status: 404, reason: 'revoked' })
})

const use = async (key: string, points: number) =>
  inbound.database.pool.query({
    text: `insert into rate_limit (key, points, expire) values ($1, $2, $3)
      on conflict (key) do update set points = excluded.points`,
    values: [key, points, Date.now() + 300_000],
  })

test('429: the 3,001st signed delivery in 5 minutes to a URL; the log has one entry for them', async () => {
  await use(`inbound_url:${inbound.main.id}`, 2_999)

  const answers = [await inbound.post(other), await inbound.post(other), await inbound.post(other)]

  expect(answers.map(({ status, text }) => [status, text])).toEqual([
    [200, ''],
    [429, ''],
    [429, ''],
  ])
  expect(Number(answers[1]?.headers['retry-after'])).toBeGreaterThan(0)
  const entry = await inbound.eventually(async () =>
    (await inbound.logs()).find(({ reason, count }) => reason === 'too_many_to_url' && count === 2),
  )
  expect(entry).toMatchObject({ status: 429, accepted: false })
})

test('what is refused uses up nothing of what is rightly signed, and has 3,000 of its own in 5 minutes', async () => {
  const { id } = inbound.connectionNamed('own header')
  const url = inbound.urlOf(id)
  const event = '{"type":"other"}'
  await use(`inbound_url_refused:${id}`, 2_999)

  const unsigned = [await postBytes(url, event), await postBytes(url, event)]
  const forged = await postBytes(url, event, { 'x-crm-signature': sign('another', event) })
  const signed = await postBytes(url, event, { 'x-crm-signature': sign(secret, event) })

  expect(unsigned.map(({ status }) => status)).toEqual([403, 429])
  expect([forged.status, signed.status]).toEqual([429, 200])
})

test('403: without a well-formed signature header the body is not waited for', async () => {
  const sending = request(inbound.urlOf(inbound.main.id), { method: 'POST', headers: { 'Content-Length': '200000' } })
  sending.write('{')
  const [answered] = (await once(sending, 'response')) as [IncomingMessage]
  sending.on('error', () => undefined).destroy()

  expect(answered.statusCode).toBe(403)
})

test('429: the 30,001st delivery in 5 minutes from one address to all URLs', async () => {
  const { id } = inbound.connectionNamed('without secret')
  const { rows } = await inbound.database.pool.query<{ key: string }>(
    `select key from rate_limit where key like 'inbound_address:%'`,
  )
  await use(rows[0]?.key ?? '', 29_999)

  const answers = [await inbound.post(other, { connection: id }), await inbound.post(other, { connection: id })]

  expect(answers.map(({ status, text }) => [status, text])).toEqual([
    [403, ''],
    [429, ''],
  ])
  expect((await inbound.send('GET', '/admin/v1/organisations')).status).toBe(200)
  const entry = await inbound.eventually(async () =>
    (await inbound.logs()).find(({ reason }) => reason === 'too_many_from_address'),
  )
  expect(entry).toMatchObject({ status: 429, accepted: false })
})
