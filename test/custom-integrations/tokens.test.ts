import { expect, test } from 'vitest'
import type { Exchange, OutboundRequest } from '#infra/guarded-http.ts'
import { makeTokens } from '../../delivery-worker/sending/tokens.ts'

const wanted = {
  connection_id: 'c-1',
  token_url: 'https://auth.example.com/token',
  client_id: 'our id',
  client_secret: 'our:secret',
  scope: 'contacts',
  client_authentication: 'basic',
} as const

const opened = (answer: (count: number) => readonly [status: number, body: object]) => {
  const requests: OutboundRequest[] = []
  let now = 0
  const http = {
    request: async (request: OutboundRequest): Promise<Exchange> => {
      requests.push(request)
      const [status, body] = answer(requests.length)
      return { outcome: 'answered', status, header: () => undefined, body: Buffer.from(JSON.stringify(body)) }
    },
  }
  return {
    ...makeTokens(http, () => now),
    requests,
    pass: (seconds: number) => {
      now += seconds * 1_000
    },
  }
}
const token = (count: number) => [200, { access_token: `T${count}`, token_type: 'Bearer', expires_in: 3600 }] as const

test('a token is asked for once, however many want it at once, and kept until shortly before it expires', async () => {
  const tokens = opened(token)

  expect(await Promise.all(Array.from({ length: 20 }, () => tokens.tokenFor(wanted)))).toEqual(Array(20).fill('T1'))
  tokens.pass(3_500)
  expect(await tokens.tokenFor(wanted)).toBe('T1')
  tokens.pass(80)
  expect(await tokens.tokenFor(wanted)).toBe('T2')
})

test('the client proves itself in the header or in the form, encoded as in a form', async () => {
  const tokens = opened(token)
  await tokens.tokenFor(wanted)
  await tokens.tokenFor({ ...wanted, client_authentication: 'form' })

  expect(tokens.requests[0]?.headers['Authorization']).toBe(
    `Basic ${Buffer.from('our+id:our%3Asecret').toString('base64')}`,
  )
  expect(tokens.requests[0]?.body).toBe('grant_type=client_credentials&scope=contacts')
  expect(tokens.requests[1]?.headers).not.toHaveProperty('Authorization')
  expect(tokens.requests[1]?.body).toContain('client_secret=our%3Asecret')
})

test('a token that was refused is forgotten', async () => {
  const tokens = opened(token)
  tokens.forget(wanted, await tokens.tokenFor(wanted))

  expect(await tokens.tokenFor(wanted)).toBe('T2')
})

test('why there is no token is said without what the server wrote freely, and asked again a little later', async () => {
  const tokens = opened((count) => (count === 1 ? [401, { error: 'invalid_client', why: 'our:secret' }] : token(count)))

  await expect(tokens.tokenFor(wanted)).rejects.toThrow('no access token: the token server answered 401 invalid_client')
  await expect(tokens.tokenFor(wanted)).rejects.toThrow('401')
  expect(tokens.requests).toHaveLength(1)
  tokens.pass(3)
  expect(await tokens.tokenFor(wanted)).toBe('T2')
})
