import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Outbound } from '#domain/custom-integrations/events.ts'
import { integrationSecretBinding } from '#domain/custom-integrations/record.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { seal } from '#infra/crypto/seal.ts'
import type { Outside } from '../../delivery-worker/capability.ts'
import { fillEndpoint } from '../../delivery-worker/custom-integrations/fill.ts'
import type { FillingTask } from '../../delivery-worker/custom-integrations/filling-thread.ts'
import { integrationConnections } from '../../delivery-worker/custom-integrations/connections.ts'

const keys = deriveKeys(Buffer.alloc(32, 3).toString('base64'))
const [organisation_id, connection_id] = [randomUUID(), randomUUID()]

/** The headers of a call that proves itself with a credential. */
const headersOf = async (credential: Outbound['credential'], secrets: Readonly<Record<string, string>>) => {
  const sealed_secrets = Object.fromEntries(
    Object.entries(secrets).map(([name, secret]) => [
      name,
      seal(keys, secret, integrationSecretBinding(organisation_id, connection_id, name)),
    ]),
  )
  const outbound: Outbound = {
    base_url: 'https://api.example.com/v1',
    credential,
    endpoints: [
      {
        key: 'add',
        method: 'POST',
        path: '/contacts',
        headers: { authorization: 'of the endpoint', 'idempotency-key': 'of the endpoint' },
        body_template: null,
      },
    ],
  }
  const outside = {
    db: { query: async () => ({ rows: [{ facts: { outbound, removed: false } }] }) },
    tokens: {},
    fill: async (_organisation: string, { endpoint, envelope }: FillingTask) => fillEndpoint(endpoint, envelope),
  } as unknown as Outside // all that is asked of it here
  const facts = { custom_integration_id: randomUUID(), sealed_secrets, removed: false }
  const body = JSON.stringify({ event_type: 'lead.created', $endpoint: 'add' })
  const sending = { id: randomUUID(), organisation_id, connection_id, body, keys, now: new Date() }
  const prepared = await integrationConnections.prepare(facts, sending, outside)
  return integrationConnections.request(prepared, sending).headers
}

describe('a call proves itself', () => {
  test('with a bearer token, in place of whatever the endpoint says', async () => {
    const headers = await headersOf({ type: 'bearer', secret: 'token' }, { token: 'abc.def' })

    expect(headers['Authorization']).toBe('Bearer abc.def')
    expect(Object.values(headers)).not.toContain('of the endpoint')
  })

  test('with a user name and a password', async () => {
    const headers = await headersOf({ type: 'basic', username: 'we', secret: 'password' }, { password: 'pa:ss' })

    expect(headers['Authorization']).toBe(`Basic ${Buffer.from('we:pa:ss').toString('base64')}`)
  })

  test('with a password of any characters, since they are encoded', async () => {
    const headers = await headersOf({ type: 'basic', username: 'usér', secret: 'password' }, { password: 'pässwörd£' })

    expect(headers['Authorization']).toBe(`Basic ${Buffer.from('usér:pässwörd£', 'utf8').toString('base64')}`)
  })

  test('with a key in the header that the firm names', async () => {
    expect(await headersOf({ type: 'api_key', header: 'X-Key', secret: 'key' }, { key: 'our key' })).toMatchObject({
      'X-Key': 'our key',
    })
  })
})

describe('nothing is sent', () => {
  test('without the secret, and the reason names it', async () => {
    await expect(headersOf({ type: 'bearer', secret: 'token' }, {})).rejects.toThrow(
      'The secret token of the connection is not set.',
    )
  })

  test('with a secret that would begin another header', async () => {
    await expect(headersOf({ type: 'bearer', secret: 'token' }, { token: 'a\r\nX-Other: b' })).rejects.toThrow(
      'The secret token holds characters that no header can hold.',
    )
  })
})
