import { expect, test } from 'vitest'
import { ProviderAccountId, type ProviderAccountEvent } from '#domain/provider-accounts/events.ts'
import { providerAccount, type ProviderAccountCommand } from '#domain/provider-accounts/provider-account.ts'
import { accountOf, providerAccountsFold, type ProviderAccounts } from '#domain/provider-accounts/record.ts'
import { organisation_id } from '../applications/release.ts'
import { rejected, scenariosOf } from '../scenario.ts'

const scenario = scenariosOf(providerAccount)
const provider = 'ideal_postcodes'
const details = {
  provider_account_id: ProviderAccountId.parse('a1000000-0000-5000-8000-000000000001'),
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
const wasSet: Extract<ProviderAccountEvent, { type: 'ProviderAccountSet' }> = { type: 'ProviderAccountSet', ...details }

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
  then: rejected('validation_failed', { webhook_secret: 'message_gateway and smtp' }, 'leave it out'),
})
scenario('what is not there is removed already', { given: [], when: { type: 'RemoveProviderAccount' }, then: [] })
scenario('an account that is removed is used no more', {
  given: [wasSet],
  when: { type: 'RemoveProviderAccount' },
  then: [{ type: 'ProviderAccountRemoved', organisation_id, provider }],
})
for (const change of [{ base_url: 'https://other.example.com' }, { account: 'another' }])
  scenario(`with the same secret an account changes by ${JSON.stringify(change)}`, {
    given: [wasSet],
    when: set({ ...change, are_same_secrets: true }),
    then: [{ ...wasSet, ...change }],
  })

const rotated = { ...wasSet, sealed_secret: 'rotated', sealed_webhook_secret: 'rotated, too' }
const keeps = { secret: true, webhook_secret: true }
scenario('secrets that are kept are those in force by then', {
  given: [wasSet, rotated],
  when: set({ keeps }),
  then: [rotated],
})
scenario('but a secret that was replaced at another address goes to no other', {
  given: [wasSet, { ...rotated, base_url: 'https://other.example.com' }],
  when: set({ keeps: { ...keeps, webhook_secret: false } }),
  then: [wasSet],
})

const plain = 'http://127.0.0.1:4030/v2'
scenario('an address may be http:// where the operator permits it for that host', {
  given: [],
  when: set({ base_url: plain, http_allowed: true }),
  then: [{ ...wasSet, base_url: plain }],
})
for (const [base_url, says] of [
  ['', 'whole address'],
  ['http://api.example.com', 'https://'],
  ['https://user:word@api.example.com', 'user name'],
  ['https://user@api.example.com', 'user name'],
  ['https://:word@api.example.com', 'user name'],
  ['https://api.example.com?key=1', 'query'],
  ['https://api.example.com#here', 'fragment'],
  ['https://api.example.com/', 'slash'],
] as const)
  scenario(`an account cannot be at “${base_url}”`, {
    given: [],
    when: set({ base_url }),
    then: rejected('validation_failed', { base_url: says }, 'The base address must '),
  })
scenario('nor, where http:// is permitted, at an address of another protocol', {
  given: [],
  when: set({ base_url: 'ftp://api.example.com', http_allowed: true }),
  then: rejected('validation_failed', { base_url: 'https://' }),
})

for (const base_url of ['smtps://mail.example.com', 'smtp://mail.example.com', 'smtps://mail.example.com:465'])
  scenario(`a mail server can be at “${base_url}”`, {
    given: [],
    when: set({ provider: 'smtp', base_url }),
    then: [{ ...wasSet, provider: 'smtp', base_url }],
  })
for (const base_url of [
  'https://mail.example.com',
  'mail.example.com',
  'smtps://user:word@mail.example.com',
  'smtps://mail.example.com/',
  'smtps://mail.example.com:imaps',
  'smtps://mail.example.com:99999',
  ' smtps://mail.example.com',
])
  scenario(`a mail server cannot be at “${base_url}”`, {
    given: [],
    when: set({ provider: 'smtp', base_url }),
    then: rejected(
      'validation_failed',
      { base_url: 'must be the address of a mail server, such as smtps://mail.example.com:465' },
      'The base address must ',
    ),
  })

test('an organisation has one account with each provider, and sees no other’s', () => {
  const accounts: ProviderAccounts = new Map()
  const recorded = { stream: 'provider_account-1', metadata: { occurred_at: '2026-03-01T12:00:00.000Z' } }
  const another = { ...wasSet, provider: 'tpsclear', sealed_secret: 'another' } as const
  for (const event of [wasSet, another]) providerAccountsFold.apply(accounts, event, recorded)

  expect(accountOf(accounts, organisation_id, provider)?.sealed_secret).toBe('sealed')
  expect(accountOf(accounts, organisation_id, 'tpsclear')?.sealed_secret).toBe('another')
  expect(
    accountOf(accounts, '6f6c9e0a-3c1b-4d5e-8f70-000000000000' as typeof organisation_id, provider),
  ).toBeUndefined()

  providerAccountsFold.apply(accounts, { type: 'ProviderAccountRemoved', organisation_id, provider }, recorded)
  expect(accountOf(accounts, organisation_id, provider)).toBeUndefined()
  expect(accountOf(accounts, organisation_id, 'tpsclear')).toBeDefined()
})
