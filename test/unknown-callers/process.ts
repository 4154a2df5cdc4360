import { randomBytes } from 'node:crypto'
import { emptyDirectory } from '#domain/access/record.ts'
import { noIntegrations } from '#domain/custom-integrations/record.ts'
import { paymentSecretBinding, type SealedPaymentAccount } from '#domain/payment-accounts/record.ts'
import { OrganisationId } from '#domain/values.ts'
import { systemClock } from '#infra/clock.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { seal } from '#infra/crypto/seal.ts'
import { makeTokens } from '#infra/crypto/tokens.ts'
import { makeAdmission } from '#infra/http/admission.ts'
import { httpApp } from '#infra/http/http.ts'
import { listen } from '#infra/http/listen.ts'
import { makeRateLimit } from '#infra/http/rate-limit.ts'
import { makeSubjectCheck } from '#infra/http/subject.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { makeLog } from '#infra/log.ts'
import { makeMetrics } from '#infra/metrics.ts'
import { tokenRoutes } from '../../command-api/access/token.ts'
import { inboundWebhook } from '../../command-api/custom-integrations/inbound-webhook.ts'
import { messageNewsWebhook } from '../../command-api/message-news/webhook.ts'
import { paymentWebhook } from '../../command-api/payment-news/webhook.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'

// What anybody can post to, with one organisation that takes news of payments. Started by memory.test.ts, which asks how
// much memory it takes.

const keys = deriveKeys(randomBytes(32).toString('base64'))
const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const id = 'b1000000-0000-5000-8000-000000000001'
const account: SealedPaymentAccount = {
  id: id as SealedPaymentAccount['id'],
  organisation_id,
  mode: 'test',
  base_url: 'http://127.0.0.1',
  publishable_key: null,
  stripe_account: null,
  capture: 'automatic',
  sealed_secret_key: '',
  sealed_webhook_secret: seal(keys, 'whsec', paymentSecretBinding(organisation_id, id, 'webhook_secret')),
  updated_at: '2026-01-01T00:00:00.000Z',
}

const log = makeLog('silent', 'test')
const directory = emptyDirectory()
const limit = (requests: number) => makeRateLimit({ requests, windowSeconds: 300, log })
const limits = { fromSender: limit(1_000_000), signed: limit(1_000_000), refused: limit(1_000_000) }
const nobody = async (): Promise<never> => {
  throw new Error('Nothing of this was proven.')
}
const shared = { keys, directory, limits, clock: systemClock, log, requireCurrent: () => undefined }
const baseUrl = 'http://127.0.0.1'
const tokens = makeTokens(keys, baseUrl)

const app = httpApp([], {
  log,
  metrics: makeMetrics(),
  admission: makeAdmission({ directory, tokens, baseUrl, rateLimit: limit(0), operatorKey: undefined }),
  subjectCheck: makeSubjectCheck({ keys }),
  recordAccess: async () => undefined,
  clock: systemClock,
  trustedProxies: 1,
  checkAnswers: false,
  before: [
    tokenRoutes({
      directory,
      load: async () => undefined,
      tokens,
      checkSecret: async () => false,
      rateLimit: limit(0),
      baseUrl,
      log,
    }),
    paymentWebhook({ ...shared, paymentAccounts: new Map([[`${organisation_id} test`, account]]), receive: nobody }),
    messageNewsWebhook({ ...shared, accounts: new Map(), receive: nobody }),
    inboundWebhook({
      ...shared,
      writer: makeWriter({ log: {} as EventLog, seen: async () => undefined }), // nothing gets so far
      digest: nobody,
      integrations: noIntegrations(),
      integrationLog: { record: nobody, recordTooMany: () => undefined, stop: async () => undefined },
    }),
  ],
})

const { port } = await listen(app, '127.0.0.1', 0)
process.on('message', () => {
  globalThis.gc?.()
  globalThis.gc?.()
  process.send?.(process.memoryUsage().rss)
})
process.once('disconnect', () => process.exit())
process.send?.({ port, organisation_id })
