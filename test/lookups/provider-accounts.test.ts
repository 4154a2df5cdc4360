import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ProviderAccountEvent } from '#domain/provider-accounts/events.ts'
import { providerAccount, type ProviderAccountCommand } from '#domain/provider-accounts/provider-account.ts'
import { organisation_id } from '../applications/release.ts'
import { rejected, scenariosOf } from '../scenario.ts'
import { setupApi } from '../setup/setup-api.ts'
import { providerAccountIdOf } from '../../command-api/provider-accounts/accounts.ts'

const scenario = scenariosOf(providerAccount)
const provider = 'ideal_postcodes'
const details = {
  provider_account_id: providerAccountIdOf(organisation_id, provider),
  organisation_id,
  provider,
  base_url: 'https://api.example.com',
  account: null,
  sealed_secret: 'sealed',
  sealed_webhook_secret: null,
} as const

type SetAccount = Extract<ProviderAccountCommand, { type: 'SetProviderAccount' }>
const set = (changes: Partial<SetAccount> = {}): SetAccount => ({
  type: 'SetProviderAccount',
  ...details,
  http_allowed: false,
  are_same_secrets: false,
  ...changes,
})
const wasSet: ProviderAccountEvent = { type: 'ProviderAccountSet', ...details }

scenario('an account is set', { given: [], when: set(), then: [wasSet] })
scenario('the same account again changes nothing', { given: [wasSet], when: set({ are_same_secrets: true }), then: [] })
scenario('another secret replaces the former', {
  given: [wasSet],
  when: set({ sealed_secret: 'another' }),
  then: [{ ...wasSet, sealed_secret: 'another' }],
})
scenario('an account that is removed can be set again', {
  given: [wasSet, { type: 'ProviderAccountRemoved', organisation_id, provider }],
  when: set(),
  then: [wasSet],
})
scenario('an account that messages leave by takes news with a webhook secret', {
  given: [],
  when: set({ provider: 'smtp', base_url: 'smtps://mail.example.com', sealed_webhook_secret: 'sealed, too' }),
  then: [{ ...wasSet, provider: 'smtp', base_url: 'smtps://mail.example.com', sealed_webhook_secret: 'sealed, too' }],
})
scenario('others do not', {
  given: [],
  when: set({ sealed_webhook_secret: 'sealed, too' }),
  then: rejected('validation_failed', { webhook_secret: 'message_gateway and smtp' }),
})
scenario('what is not there is removed already', { given: [], when: { type: 'RemoveProviderAccount' }, then: [] })
for (const [base_url, says] of [
  ['', 'whole address'],
  ['http://api.example.com', 'https://'],
  ['https://user:word@api.example.com', 'user name'],
  ['https://api.example.com/', 'slash'],
] as const)
  scenario(`an account cannot be at “${base_url}”`, {
    given: [],
    when: set({ base_url }),
    then: rejected('validation_failed', { base_url: says }),
  })

describe('a set-up file', () => {
  let api: Awaited<ReturnType<typeof setupApi>>
  beforeAll(async () => {
    api = await setupApi()
  })
  afterAll(() => api[Symbol.asyncDispose]())

  const file = (accounts: string) =>
    `organisations:\n  - slug: harbour\n    name: Harbour\n    provider_accounts:\n${accounts}`

  test('sets accounts, keeps their secrets sealed and changes nothing when applied again', async () => {
    const text = file('      - { provider: ideal_postcodes, secret: a-key-of-the-firm }\n')
    expect((await api.apply(text)).status).toBe(200)
    expect(JSON.stringify(await api.eventLog.readAll())).not.toContain('a-key-of-the-firm')
    const written = await api.written()
    await api.apply(text)
    expect(await api.written()).toEqual(written)
  })

  test('says what is wrong, and where', async () => {
    const accounts =
      '      - { provider: market_panel, secret: key }\n' +
      '      - { provider: os_places, secret: key }\n' +
      '      - { provider: os_places, secret: key }\n'
    const { status, body } = await api.plan(file(accounts))
    expect(status).toBe(422)
    expect((body as { error: { fields: Record<string, string> } }).error.fields).toMatchObject({
      'organisations[0].provider_accounts[0].base_url': expect.stringContaining('whole address') as string,
      'organisations[0].provider_accounts[2].provider': expect.stringContaining('provider_accounts[1]') as string,
    })
  })
})
