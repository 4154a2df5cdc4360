import { expect, test } from 'vitest'
import { integrationsFold, noIntegrations } from '#domain/custom-integrations/record.ts'
import { categoryOf, fromStored, type RecordedEvent } from '#domain/event.ts'
import { endpointConnectionEvents } from '#domain/integrations/events.ts'
import { signingSecretsFold, type SigningSecrets } from '#domain/integrations/record.ts'
import { paymentAccountsFold, type PaymentAccounts } from '#domain/payment-accounts/record.ts'
import { providerAccountsFold, type ProviderAccounts } from '#domain/provider-accounts/record.ts'
import { sealedSecretsOf } from '#domain/sealed-secrets.ts'
import { samples } from '../stored-events/samples.ts'

const signedBy = (...events: readonly object[]) => {
  const signingSecrets = new Map<string, SigningSecrets>()
  for (const event of events)
    signingSecretsFold.apply(signingSecrets, event as never, { stream: 'endpoint_connection-1' })
  return (now: string) =>
    sealedSecretsOf(
      { providerAccounts: new Map(), paymentAccounts: new Map(), integrations: noIntegrations(), signingSecrets },
      now,
    ).map(({ sealed }) => sealed)
}

test('every secret that any stored event holds sealed is among those in use', () => {
  const known = {
    providerAccounts: new Map() as ProviderAccounts,
    paymentAccounts: new Map() as PaymentAccounts,
    integrations: noIntegrations(),
    signingSecrets: new Map<string, SigningSecrets>(),
  }
  const apply = (event: RecordedEvent) => {
    const isOf = ({ categories, events }: { categories: readonly string[]; events: object }) =>
      categories.includes(categoryOf(event.stream)) && event.type in events
    if (isOf(providerAccountsFold))
      providerAccountsFold.apply(known.providerAccounts, fromStored(providerAccountsFold.events, event), event)
    if (isOf(paymentAccountsFold))
      paymentAccountsFold.apply(known.paymentAccounts, fromStored(paymentAccountsFold.events, event), event)
    if (isOf(integrationsFold))
      integrationsFold.apply(known.integrations, fromStored(integrationsFold.events, event), event)
    if (isOf(signingSecretsFold))
      signingSecretsFold.apply(known.signingSecrets, fromStored(endpointConnectionEvents, event), connection)
  }
  // The samples of the versions of one event are of different connections.
  const connection = { stream: 'endpoint_connection-1' }
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

test('a former signing secret is in use until the last one signs', () => {
  const created = { type: 'EndpointConnectionCreated', organisation_id: 'org_0', name: 'hooks', sealed_secret: 'first' }
  const again = { type: 'EndpointSecretRegenerated', sealed_secret: 'second' }
  const overlapping = signedBy(created, { ...again, former_signs_until: '2030-01-02T00:00:00.000Z' })

  expect(overlapping('2030-01-01T00:00:00.000Z')).toEqual(['second', 'first'])
  expect(overlapping('2030-01-03T00:00:00.000Z')).toEqual(['second'])
  expect(signedBy(created, { ...again, former_signs_until: null })('2030-01-01T00:00:00.000Z')).toEqual(['second'])
  expect(signedBy(created, { type: 'EndpointConnectionRemoved' })('2030-01-01T00:00:00.000Z')).toEqual([])
})
