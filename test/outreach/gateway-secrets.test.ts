import { randomBytes } from 'node:crypto'
import express from 'express'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accountSecretBinding, type SealedAccount } from '#domain/provider-accounts/record.ts'
import { OrganisationId } from '#domain/values.ts'
import { ProviderAccountId, type Provider } from '#domain/provider-accounts/events.ts'
import type { Organisation } from '#domain/access/record.ts'
import { systemClock } from '#infra/clock.ts'
import { deriveKeys, type Keys } from '#infra/crypto/keys.ts'
import { seal } from '#infra/crypto/seal.ts'
import { makeLog } from '#infra/log.ts'
import { messageNewsAddress, messageNewsWebhook } from '../../command-api/message-news/webhook.ts'
import { tell } from '../../stand-ins/message-gateway.ts'
import { serveApp } from '../serve.ts'

const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const [keys, lost] = [0, 1].map(() => deriveKeys(randomBytes(32).toString('base64')))
if (!keys || !lost) throw new Error('There are no keys.')
const accountOf = (provider: Provider, number: number, secret: string, under: Keys): [string, SealedAccount] => {
  const id = ProviderAccountId.parse(`9d000000-0000-4000-8000-00000000000${number}`)
  const place = accountSecretBinding(organisation_id, id, 'webhook_secret')
  const sealed_webhook_secret = seal(under, secret, place)
  const of = { id, organisation_id, provider, base_url: 'https://example.com', account: null, updated_at: '' }
  return [`${organisation_id} ${provider}`, { ...of, sealed_secret: '', sealed_webhook_secret }]
}

const unlimited = async () => ({ served: true }) as const

let served: Awaited<ReturnType<typeof serveApp>>
let received = 0
beforeAll(async () => {
  const organisation = { active: true } as Organisation // nothing else of it is asked for
  const router = messageNewsWebhook({
    keys,
    accounts: new Map([
      accountOf('message_gateway', 1, 'of the gateway', keys),
      accountOf('smtp', 2, 'of the mailbox', lost),
    ]),
    directory: { organisations: new Map([[organisation_id, organisation]]) },
    requireCurrent: () => undefined,
    limits: { fromSender: unlimited, signed: unlimited, refused: unlimited },
    receive: async () => {
      received++
    },
    clock: systemClock,
    log: makeLog('silent', 'test'),
  })
  served = await serveApp(express().use(router))
})
afterAll(() => served[Symbol.asyncDispose]())

const news = { type: 'reply', channel: 'sms', from: '+447400100001', text: 'Yes' }
const say = (secret: string) =>
  tell({ url: served.origin + messageNewsAddress.replace(':organisation_id', organisation_id), secret }, news)

test('news of a gateway is taken while the secret of the mailbox cannot be opened', async () => {
  expect((await say('of the gateway')).status).toBe(200)
  expect(received).toBe(1)
})

test('what may be signed by a secret that cannot be opened is answered 5xx, to be sent again', async () => {
  expect((await say('of the mailbox')).status).toBe(500)
})

test('what is not signed is refused all the same', async () => {
  const url = served.origin + messageNewsAddress.replace(':organisation_id', organisation_id)
  expect((await fetch(url, { method: 'POST', body: JSON.stringify(news) })).status).toBe(403)
})
