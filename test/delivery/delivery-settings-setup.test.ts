import { expect, test } from 'vitest'
import { deliverySettingsSection, DeclaredDeliverySettings } from '../../command-api/deliveries/setup.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import type { SetupContext } from '../../command-api/setup-file/section.ts'
import { OrganisationId } from '#domain/values.ts'
import { organisation_id } from './applications.ts'
import { deliveryFixture } from './fixture.ts'

test('a set-up file says how deliveries are sent over a connection; applied again it changes nothing', async () => {
  await using fixture = await deliveryFixture()
  const section = deliverySettingsSection({
    writer: makeWriter({ log: fixture.eventLog, seen: async () => undefined }),
    connections: new Map(),
  })
  const reported: string[] = []
  const setup: SetupContext = {
    organisation_id: OrganisationId.parse(organisation_id),
    currency_code: 'GBP',
    time_zone: 'Europe/London',
    stripe_test_mode: false,
    context: {
      organisation_id,
      actor: { type: 'operator', id: null },
      correlation_id: 'test',
      now: '2026-03-01T10:00:00.000Z',
    },
    refuse: () => {
      throw new Error('nothing is refused')
    },
    report: (path, reason) => reported.push(`${path.join('.')}: ${reason}`),
    lacks: () => undefined,
    declared: () => [{ name: 'CRM', base_url: 'https://crm.example.com/' }],
    file: () => undefined,
    bytes: () => undefined,
    makeSecret: () => 'a secret of the tests',
  }
  const plan = async (...declared: readonly object[]) =>
    section.plan(
      declared.map((each) => DeclaredDeliverySettings.parse(each)),
      setup,
    )
  const wanted = { endpoint_connection: 'CRM', per_second: 20, in_order: true }

  const first = await plan(wanted)
  for (const { apply } of first) await apply()
  const again = await plan(wanted)
  await plan(wanted, wanted, { endpoint_connection: 'ERP' })

  expect(first).toMatchObject([
    {
      what: 'delivery settings of CRM',
      change: 'change',
      details: ['per_second: null → 20', 'in_order: false → true'],
    },
  ])
  expect(again).toMatchObject([{ change: 'none', details: [] }])
  expect(reported).toEqual([
    '1.endpoint_connection: is declared twice',
    '2.endpoint_connection: there is no endpoint connection called ERP',
  ])
  expect(DeclaredDeliverySettings.safeParse({ ...wanted, at_onec: 1 }).success).toBe(false)
})
