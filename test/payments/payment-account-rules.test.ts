import { describe, expect, test } from 'vitest'
import { PaymentAccountId, type PaymentAccountEvent } from '#domain/payment-accounts/events.ts'
import { paymentAccount, type PaymentAccountCommand } from '#domain/payment-accounts/payment-account.ts'
import { paymentAccountOf, paymentAccountsFold, type PaymentAccounts } from '#domain/payment-accounts/record.ts'
import { organisation_id } from '../applications/release.ts'
import { rejected, scenariosOf } from '../scenario.ts'

const scenario = scenariosOf(paymentAccount)
const account = {
  payment_account_id: PaymentAccountId.parse('a2000000-0000-5000-8000-000000000001'),
  organisation_id,
  mode: 'test',
  base_url: 'https://api.stripe.com',
  publishable_key: 'pk_test_1',
  stripe_account: null,
  capture: 'automatic',
  sealed_secret_key: 'sealed',
  sealed_webhook_secret: null,
} as const

type SetAccount = Extract<PaymentAccountCommand, { type: 'SetPaymentAccount' }>
const set = (changes: Partial<SetAccount> = {}): SetAccount => ({
  type: 'SetPaymentAccount',
  ...account,
  http_allowed: false,
  are_same_secrets: false,
  ...changes,
})
type WasSet = Extract<PaymentAccountEvent, { type: 'PaymentAccountSet' }>
const wasSet: WasSet = { type: 'PaymentAccountSet', ...account }
const removed: PaymentAccountEvent = { type: 'PaymentAccountRemoved', organisation_id, mode: 'test' }
const remove: PaymentAccountCommand = { type: 'RemovePaymentAccount' }

describe('an account with the payment provider', () => {
  scenario('is set up for an organisation and a mode', { given: [], when: set(), then: [wasSet] })
  scenario('does not change when all of it is the same', {
    given: [wasSet],
    when: set({ are_same_secrets: true }),
    then: [],
  })
  scenario('of another secret replaces the former', {
    given: [wasSet],
    when: set({ sealed_secret_key: 'sealed again' }),
    then: [{ ...wasSet, sealed_secret_key: 'sealed again' }],
  })
  const changes: readonly Partial<Omit<WasSet, 'type'>>[] = [
    { base_url: 'https://stripe.example.com' },
    { publishable_key: null },
    { stripe_account: 'acct_1' },
    { capture: 'manual' },
  ]
  for (const change of changes)
    scenario(`with the same secrets changes by ${JSON.stringify(change)}`, {
      given: [wasSet],
      when: set({ ...change, are_same_secrets: true }),
      then: [{ ...wasSet, ...change }],
    })
  const rotated = { ...wasSet, sealed_secret_key: 'rotated', sealed_webhook_secret: 'rotated, too' }
  scenario('keeps the secrets that are in force by then', {
    given: [wasSet, rotated],
    when: set({ publishable_key: null, keeps: { secret: true, webhook_secret: true } }),
    then: [{ ...rotated, publishable_key: null }],
  })
  scenario('has no secret of another address go to its own', {
    given: [wasSet, { ...rotated, stripe_account: 'acct_1' }],
    when: set({ keeps: { secret: true, webhook_secret: false } }),
    then: [wasSet],
  })
  scenario('that is removed takes no more payments', { given: [wasSet], when: remove, then: [removed] })
  scenario('that is removed can be set up again with the same secrets', {
    given: [wasSet, removed],
    when: set({ are_same_secrets: true }),
    then: [wasSet],
  })
  scenario('that is not there is removed already', { given: [], when: remove, then: [] })
})

describe('the address of the payment provider', () => {
  const plain = 'http://127.0.0.1:4020'

  scenario('may be http:// where the operator permits it for that host', {
    given: [],
    when: set({ base_url: plain, http_allowed: true }),
    then: [{ ...wasSet, base_url: plain }],
  })
  for (const [base_url, http_allowed, reason] of [
    ['', false, 'without a path'],
    ['stripe', false, 'without a path'],
    ['https://api.stripe.com/', false, 'without a path'],
    ['https://api.stripe.com/v1', false, 'without a path'],
    ['https://me@api.stripe.com', false, 'without a path'],
    ['http://127.0.0.1:4020/v1', true, 'without a path'],
    [plain, false, 'must begin with https://'],
    ['ftp://127.0.0.1:4020', true, 'must begin with https://'],
  ] as const)
    scenario(`cannot be “${base_url}”${http_allowed ? ', although http:// is permitted' : ''}`, {
      given: [],
      when: set({ base_url, http_allowed }),
      then: rejected('validation_failed', { base_url: reason }, 'The base address must '),
    })
})

test('an organisation has one account for test and one for live, and sees no other’s', () => {
  const accounts: PaymentAccounts = new Map()
  const recorded = { stream: 'payment_account-1', metadata: { occurred_at: '2026-03-01T12:00:00.000Z' } }
  const live = { ...wasSet, mode: 'live', sealed_secret_key: 'sealed for live' } as const
  for (const event of [wasSet, live]) paymentAccountsFold.apply(accounts, event, recorded)

  expect(paymentAccountOf(accounts, organisation_id, 'test')?.sealed_secret_key).toBe('sealed')
  expect(paymentAccountOf(accounts, organisation_id, 'live')?.sealed_secret_key).toBe('sealed for live')
  expect(paymentAccountOf(accounts, '6f6c9e0a-3c1b-4d5e-8f70-000000000000', 'test')).toBeUndefined()

  paymentAccountsFold.apply(accounts, removed, recorded)
  expect(paymentAccountOf(accounts, organisation_id, 'test')).toBeUndefined()
  expect(paymentAccountOf(accounts, organisation_id, 'live')).toBeDefined()
})
