import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { whyNotGenuine } from '../../demo/receiver.ts'
import { sign } from '../../delivery-worker/webhooks/sign.ts'

const secret = 'whsec_4c1d0f6a2b'
const body = '{"id":"0198f0c2-0000-7000-8000-000000000001","type":"quote.issued","name":"Zoë — £12.34 😀"}'
const at = new Date('2026-03-01T10:00:00.900Z')
const seconds = 1772359200

/** With tools that share nothing with ours: `printf '%s.%s' "$t" "$body" | openssl dgst -sha256 -hmac "$secret"`. */
const vectors = [
  {
    secret: 'secret',
    at: '2023-11-14T22:13:20Z',
    body: '{"a":1}',
    signature: 't=1700000000,v1=49f24e537407743fa4a0242bb63b94b9a47ee99cbbe071ccd8a22550ae411686',
  },
  {
    secret,
    at: '2026-03-01T10:00:00Z',
    body,
    signature: `t=${seconds},v1=dc2bfd3abda08dca624f64c7ec0caffbf66d895a1147dac94388a30e51d36463`,
  },
  {
    secret,
    at: '2026-03-01T10:00:00Z',
    body: '',
    signature: `t=${seconds},v1=d2ef93826ab80d04de5a45ebad8f0126f0e0c3807d356c54aacaaba47eb70b87`,
  },
]

test.each(vectors)('t and v1 are HMAC-SHA256 over t, a dot and the raw body: $signature', (vector) => {
  expect(sign(vector.secret, vector.body, new Date(vector.at))).toBe(vector.signature)
})

test('each attempt is signed afresh', () => {
  const later = new Date(at.getTime() + 10_000)

  expect(sign(secret, body, later)).not.toBe(sign(secret, body, at))
  expect(sign(secret, body, later)).toMatch(`t=${seconds + 10},`)
})

test('a receiver takes what was signed', () => {
  expect(whyNotGenuine(secret, sign(secret, body, at), body, at.getTime())).toBeUndefined()
})

test('a receiver that reads only t and v1, in any order and among other parts, takes it too', () => {
  const [t, v1] = sign(secret, body, at).split(',')

  expect(whyNotGenuine(secret, `${v1},v0=1=2,${t}`, body, at.getTime())).toBeUndefined()
})

test.each([
  ['no signature', undefined],
  ['malformed signature', ''],
  ['malformed signature', `t=${seconds}`],
  ['malformed signature', `t=${seconds},v1=zz`],
  ['malformed signature', `t=now,v1=${'0'.repeat(64)}`],
  ['malformed signature', sign(secret, body, at).replace(/v1=.*/, (v1) => v1.toUpperCase().replace('V1', 'v1'))],
  ['signature mismatch', `t=${seconds},v1=${'0'.repeat(64)}`],
  ['signature mismatch', sign('another secret', body, at)],
  ['signature mismatch', sign(secret, `${body} `, at)],
  [
    'signature mismatch',
    `t=${seconds},v1=${createHmac('sha256', secret).update(body).digest('hex')}`, // not over the time
  ],
])('a receiver refuses: %s (%s)', (reason, signature) => {
  expect(whyNotGenuine(secret, signature, body, at.getTime())).toBe(reason)
})

test('a receiver refuses a timestamp of more than 5 minutes, before or after its own clock', () => {
  const signature = sign(secret, body, at)
  const on = seconds * 1000

  expect(whyNotGenuine(secret, signature, body, on + 300_000)).toBeUndefined()
  expect(whyNotGenuine(secret, signature, body, on + 301_000)).toBe('timestamp more than 5 minutes out')
  expect(whyNotGenuine(secret, signature, body, on - 300_000)).toBeUndefined()
  expect(whyNotGenuine(secret, signature, body, on - 301_000)).toBe('timestamp more than 5 minutes out')
})
