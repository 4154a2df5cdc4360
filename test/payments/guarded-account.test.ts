import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeGuardedHttp, type GuardedHttpOptions } from '#infra/guarded-http.ts'
import { makeStripe } from '#infra/stripe/provider.ts'
import { startStripe, type StripeStandIn } from '../../stand-ins/stripe/stripe.ts'

let standIn: StripeStandIn
let asked = 0
beforeAll(async () => {
  standIn = await startStripe()
  standIn.misbehave(() => {
    asked += 1
    return undefined
  })
})
afterAll(async () => standIn.close())

const reading = async (base_url: string, options: Partial<GuardedHttpOptions> = {}) => {
  const http = makeGuardedHttp({ allowedHosts: [], allowHttp: true, timeoutMs: 20_000, ...options })
  const account = { base_url, secret_key: 'sk_test_one', stripe_account: null }
  asked = 0
  const read = await makeStripe(http)(account).readPayment('pi_1')
  await http.close()
  return { ...read, asked }
}

const unusable = { outcome: 'refused', code: 'account_unusable', asked: 0 }

describe('an account with the payment provider', () => {
  test.each(['https://127.0.0.2', 'https://169.254.169.254', 'https://[::1]', 'https://[::ffff:10.0.0.1]'])(
    'at %s, which is not a public address, is contacted by nothing, and asked no second time',
    async (base_url) => {
      expect(await reading(base_url)).toMatchObject(unusable)
    },
  )

  test('at a name that leads to this machine is not contacted', async () => {
    const { port } = new URL(standIn.url)
    const lookup = async () => [{ address: '127.0.0.1', family: 4 }]
    expect(await reading(`https://stripe.example:${port}`, { lookup })).toMatchObject(unusable)
  })

  test('without encryption is used only where the operator allows it', async () => {
    expect(await reading(standIn.url)).toMatchObject(unusable)
    expect(await reading(standIn.url, { allowedHosts: ['127.0.0.1'], allowHttp: false })).toMatchObject(unusable)
    expect(await reading(standIn.url, { allowedHosts: ['127.0.0.1'] })).toMatchObject({
      code: 'resource_missing',
      asked: 1,
    })
  })
})
