import { expect, test } from 'vitest'
import { integrationSecretBinding, integrationsFold, noIntegrations } from '#domain/custom-integrations/record.ts'
import { categoryOf, fromStored, type RecordedEvent } from '#domain/event.ts'
import { endpointConnectionEvents } from '#domain/integrations/events.ts'
import { signingSecretBinding, signingSecretsFold, type SigningSecrets } from '#domain/integrations/record.ts'
import { paymentAccountsFold, paymentSecretBinding, type PaymentAccounts } from '#domain/payment-accounts/record.ts'
import { accountSecretBinding, providerAccountsFold, type ProviderAccounts } from '#domain/provider-accounts/record.ts'
import { signInProvidersFold, type SignInProviders } from '#domain/sign-in/record.ts'
import { sealedSecretsOf } from '#domain/sealed-secrets.ts'
import { proposalEvents, type ProposalEvent } from '#domain/approvals/events.ts'
import { proposalSecretsFold, type ProposalSecrets } from '#domain/approvals/record.ts'
import { sampleOf, samples } from '../stored-events/samples.ts'

// The samples of the versions of one event are of different connections.
const connection = { stream: 'endpoint_connection-1', metadata: { occurred_at: '2000-01-01T00:00:00.000Z' } }

const signedBy = (...events: readonly object[]) => {
  const signingSecrets = new Map<string, SigningSecrets>()
  for (const event of events) signingSecretsFold.apply(signingSecrets, event as never, connection)
  return (now: string) =>
    sealedSecretsOf(
      {
        providerAccounts: new Map(),
        paymentAccounts: new Map(),
        signInProviders: new Map(),
        proposalSecrets: new Map(),
        integrations: noIntegrations(),
        signingSecrets,
      },
      now,
    ).map(({ sealed }) => sealed)
}

test('every secret that any stored event holds sealed is among those in use', () => {
  const known = {
    providerAccounts: new Map() as ProviderAccounts,
    paymentAccounts: new Map() as PaymentAccounts,
    signInProviders: new Map() as SignInProviders,
    proposalSecrets: new Map(),
    integrations: noIntegrations(),
    signingSecrets: new Map<string, SigningSecrets>(),
  }
  const apply = (event: RecordedEvent) => {
    const isOf = ({ categories, events }: { categories: readonly string[]; events: object }) =>
      categories.includes(categoryOf(event.stream)) && event.type in events
    if (isOf(providerAccountsFold))
      providerAccountsFold.apply(known.providerAccounts, fromStored(providerAccountsFold.events, event), event)
    if (isOf(signInProvidersFold))
      signInProvidersFold.apply(known.signInProviders, fromStored(signInProvidersFold.events, event), event)
    if (isOf(paymentAccountsFold))
      paymentAccountsFold.apply(known.paymentAccounts, fromStored(paymentAccountsFold.events, event), event)
    if (isOf(integrationsFold))
      integrationsFold.apply(known.integrations, fromStored(integrationsFold.events, event), event)
    if (isOf(signingSecretsFold))
      signingSecretsFold.apply(known.signingSecrets, fromStored(endpointConnectionEvents, event), connection)
  }
  const missing: string[] = []
  let held = 0

  for (const { event } of samples) {
    // Other samples come after the end of a record.
    if (/(Removed|Revoked)$/.test(event.type)) continue
    apply(event)
    for (const [name, sealed] of Object.entries(event.data)) {
      if (!name.startsWith('sealed_') || sealed === null) continue
      held++
      const inUse = sealedSecretsOf(known, '2000-01-01T00:00:00.000Z')
      if (!inUse.some((each) => each.sealed === sealed)) missing.push(`${event.type}: ${name}`)
    }
  }

  expect(missing).toEqual([])
  expect(held).toBeGreaterThan(4)
})

test('a secret opens only in the place that it was sealed for, by organisation, record and name', () => {
  expect(accountSecretBinding('org', 'id')).toEqual(['org', 'provider_account-id', 'secret'])
  expect(accountSecretBinding('org', 'id', 'webhook_secret')).toEqual(['org', 'provider_account-id', 'webhook_secret'])
  expect(paymentSecretBinding('org', 'id', 'secret_key')).toEqual(['org', 'payment_account-id', 'secret_key'])
  expect(integrationSecretBinding('org', 'id', 'api_key')).toEqual(['org', 'integration_connection-id', 'api_key'])
  expect(signingSecretBinding('org', 'id')).toEqual(['org', 'endpoint_connection-id', 'signing_secret'])
})

test('the secrets of a proposal are in use until it is decided otherwise, or done', () => {
  const made = fromStored(proposalEvents, sampleOf('ProposalMade', 2)) as Extract<
    ProposalEvent,
    { type: 'ProposalMade' }
  >
  const command = { type: 'SetPaymentAccount', sealed_secret_key: 's1', sealed_webhook_secret: null }
  const left = (...events: readonly ProposalEvent[]) => {
    const secrets: ProposalSecrets = new Map()
    for (const event of [{ ...made, command }, ...events])
      proposalSecretsFold.apply(secrets, event, sampleOf('ProposalMade', 2))
    return [...secrets.values()].flatMap(({ sealed }) => sealed)
  }
  const approved = {
    type: 'ProposalApproved',
    stream: made.stream,
    approved_by: 'e4000000-0000-4000-8000-000000000002',
  }

  expect(left()).toEqual(['s1'])
  expect(left(approved as ProposalEvent)).toEqual(['s1'])
  expect(left({ type: 'ProposalVoided', because: 'It has changed.' })).toEqual([])
  expect(left({ type: 'ProposalDone', proposal_id: made.proposal_id })).toEqual([])
})

test('a former signing secret is in use until the last one signs', () => {
  const created = { type: 'EndpointConnectionCreated', organisation_id: 'org_0', name: 'hooks', sealed_secret: 'first' }
  const again = { type: 'EndpointSecretRegenerated', sealed_secret: 'second' }
  const overlapping = signedBy(created, { ...again, former_signs_until: '2030-01-02T00:00:00.000Z' })

  expect(overlapping('2030-01-01T00:00:00.000Z')).toEqual(['second', 'first'])
  expect(overlapping('2030-01-03T00:00:00.000Z')).toEqual(['second'])
  expect(signedBy(created, { ...again, former_signs_until: null })('2030-01-01T00:00:00.000Z')).toEqual(['second'])
  expect(signedBy(created, { type: 'EndpointConnectionRemoved' })('2030-01-01T00:00:00.000Z')).toEqual([])
})

test('whose each secret is, and what of, is known; one that there is not is none', () => {
  const account = { organisation_id: 'org_1' }
  const known = {
    providerAccounts: new Map([['one', { ...account, provider: 'phone', sealed_secret: 'p1' }]]),
    paymentAccounts: new Map([
      ['live', { ...account, mode: 'live', sealed_secret_key: 's1', sealed_webhook_secret: 'w1' }],
      ['test', { ...account, mode: 'test', sealed_secret_key: 's2', sealed_webhook_secret: null }],
    ]),
    proposalSecrets: new Map(),
    signInProviders: new Map([['one', { ...account, organisation_id: null, name: 'entra', sealed_secret: 'o1' }]]),
    integrations: {
      ...noIntegrations(),
      connections: new Map([['one', { ...account, name: 'CRM', sealed_secrets: { token: 't1' } }]]),
    },
    signingSecrets: new Map([
      [
        'one',
        { ...account, name: 'Hooks', sealed: 'h2', former: [{ sealed: 'h1', until: '2026-06-01T00:00:00.000Z' }] },
      ],
    ]),
  } as never
  const of = (now: string) =>
    sealedSecretsOf(known, now).map(({ of: what, sealed, organisation_id }) =>
      [organisation_id, what, sealed].join(': '),
    )

  expect(of('2026-05-31T23:59:59.999Z')).toEqual([
    'org_1: provider account phone: p1',
    'the installation: sign-in provider entra: o1',
    'org_1: payment account live: s1',
    'org_1: payment account live: w1',
    'org_1: payment account test: s2',
    'org_1: integration connection CRM: t1',
    'org_1: endpoint connection Hooks: h2',
    'org_1: endpoint connection Hooks: h1',
  ])
  expect(of('2026-06-01T00:00:00.000Z')).not.toContain('org_1: endpoint connection Hooks: h1')
})
