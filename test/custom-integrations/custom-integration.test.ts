import { describe, expect, test } from 'vitest'
import { customIntegration, type CustomIntegrationCommand } from '#domain/custom-integrations/custom-integration.ts'
import {
  CustomIntegrationId,
  Inbound,
  Outbound,
  type CustomIntegrationEvent,
} from '#domain/custom-integrations/events.ts'
import { readEvent } from '#domain/custom-integrations/read-event.ts'
import { evolveCustomIntegration } from '#domain/custom-integrations/record.ts'
import { OrganisationId } from '#domain/values.ts'
import { rejected, scenariosOf } from '../scenario.ts'

const scenario = scenariosOf(customIntegration)

const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const custom_integration_id = CustomIntegrationId.parse('b7b6a5c4-1d2e-4f30-8a9b-0c1d2e3f4a5b')
const policy_id = '0f6d6a0e-3a77-4d3c-8a3b-6f0f2f9d9c42'

const mapping = {
  lead: {
    id: 'lead.ours',
    external_id: 'lead.theirs',
    email: 'lead.email',
    phone: 'lead.phone',
    match_on_details: true,
  },
  type: null,
  type_column: 'sale.kind',
  occurred_at: 'sale.at',
  deal_ref: 'sale.ref',
  product: 'sale.product',
  reason: 'sale.reason',
  event_id: 'event.id',
  note: 'sale.note',
  values: { premium: 'sale.amounts.premium', commission: 'sale.amounts.commission' },
}

const inbound = Inbound.parse({
  event_type_path: 'event.name',
  signature_header: 'X-Integrations-Signature',
  signing_secret: null,
  outcome_event_types: ['sale.made'],
  outcome_mapping: mapping,
  update_event_types: ['policy.changed'],
  policy_id_path: 'policy.ours',
})
const outbound = Outbound.parse({ base_url: 'https://crm.example.com', credential: null, endpoints: [] })

const created: CustomIntegrationEvent = {
  type: 'CustomIntegrationCreated',
  custom_integration_id,
  organisation_id,
  name: 'CRM',
  inbound,
  outbound: null,
}

const create = (settings: object = {}): CustomIntegrationCommand => ({
  type: 'CreateCustomIntegration',
  custom_integration_id,
  organisation_id,
  name: 'CRM',
  faults: {},
  inbound,
  outbound: null,
  ...settings,
})
const change = (settings: object): CustomIntegrationCommand => ({
  type: 'ChangeCustomIntegration',
  faults: {},
  inbound,
  outbound: null,
  ...settings,
})

describe('an inbound integration', () => {
  scenario('is created, also before its signing secret is chosen', { given: [], when: create(), then: [created] })

  scenario('keeps its direction: that cannot change later', {
    given: [created],
    when: change({ inbound: null, outbound }),
    then: rejected('validation_failed', { direction: 'is inbound, and cannot be changed' }),
  })

  scenario('of a name that is taken is refused', {
    given: [created],
    when: create({ inbound: null, outbound }),
    then: rejected('conflict', { name: 'is taken' }, 'There is an integration called CRM already. Change that one.'),
  })

  scenario('that there is not cannot be changed', {
    given: [],
    when: change({}),
    then: rejected('not_found', undefined, 'There is no integration with this id. Check the address.'),
  })

  scenario('that is changed to what it is stays as it is', { given: [created], when: change({}), then: [] })

  scenario('has one direction and not none', {
    given: [],
    when: create({ inbound: null }),
    then: rejected('validation_failed', { direction: 'must be either inbound or outbound' }),
  })

  scenario('has all that is wrong with it named at once', {
    given: [],
    when: create({ inbound: { ...inbound, policy_id_path: null }, faults: { event_type_path: 'is empty' } }),
    then: rejected(
      'validation_failed',
      { event_type_path: 'is empty', 'inbound.policy_id_path': 'is required' },
      'Correct event_type_path, inbound.policy_id_path and send the request again.',
    ),
  })

  scenario('has one direction', {
    given: [],
    when: create({ outbound }),
    then: rejected('validation_failed', { direction: 'must be either inbound or outbound' }),
  })

  scenario('takes a name of the firm’s choice for the signature header', {
    given: [created],
    when: change({ inbound: { ...inbound, signature_header: 'X-Crm-Signature' } }),
    then: [
      {
        type: 'CustomIntegrationChanged',
        inbound: { ...inbound, signature_header: 'X-Crm-Signature' },
        outbound: null,
      },
    ],
  })

  for (const signature_header of [
    'Host',
    'connection',
    'Content-Length',
    'content-type',
    'Transfer-Encoding',
    'User-Agent',
  ])
    scenario(`does not take ${signature_header} for the signature, which HTTP itself uses`, {
      given: [],
      when: create({ inbound: { ...inbound, signature_header } }),
      then: rejected('validation_failed', { 'inbound.signature_header': 'HTTP itself' }),
    })

  const silent = { outcome_event_types: [], outcome_mapping: null, update_event_types: [], policy_id_path: null }
  scenario('need not say where anything is when it lists no event types', {
    given: [],
    when: create({ inbound: { ...inbound, ...silent } }),
    then: [{ ...created, inbound: { ...inbound, ...silent } }],
  })

  scenario('says where an outcome is, when there are outcome event types', {
    given: [],
    when: create({ inbound: { ...inbound, outcome_mapping: null } }),
    then: rejected('validation_failed', { 'inbound.outcome_mapping': 'is required' }),
  })

  scenario('says where our policy id is, when there are update event types', {
    given: [],
    when: create({ inbound: { ...inbound, policy_id_path: null } }),
    then: rejected('validation_failed', { 'inbound.policy_id_path': 'is required' }),
  })

  const nobody = { id: null, external_id: null, email: null, phone: null, match_on_details: true }
  const mapped = (changes: object) => create({ inbound: { ...inbound, outcome_mapping: { ...mapping, ...changes } } })

  scenario('says how a lead is found: at least one of id, external_id, email, phone', {
    given: [],
    when: mapped({ lead: nobody }),
    then: rejected('validation_failed', { 'inbound.outcome_mapping.lead': 'at least one of' }),
  })

  for (const [part, match_on_details] of [
    ['id', false],
    ['external_id', false],
    ['email', true],
    ['phone', true],
  ] as const) {
    const found = { ...inbound, outcome_mapping: { ...mapping, lead: { ...nobody, match_on_details, [part]: 'lead' } } }
    scenario(`finds a lead by ${part} alone`, {
      given: [],
      when: create({ inbound: found }),
      then: [{ ...created, inbound: found }],
    })
  }

  scenario('matches by email and phone only with match_on_details: true', {
    given: [],
    when: mapped({ lead: { ...nobody, email: 'lead.email', match_on_details: false } }),
    then: rejected('validation_failed', { 'inbound.outcome_mapping.lead': 'match_on_details' }),
  })

  for (const [name, types] of Object.entries({
    'neither a type nor a type column': { type: null, type_column: null },
    'both a type and a type column': { type: 'sold', type_column: 'sale.kind' },
  }))
    scenario(`does not take ${name}`, {
      given: [],
      when: mapped(types),
      then: rejected('validation_failed', { 'inbound.outcome_mapping.type': 'type_column' }),
    })
})

describe('an outbound integration', () => {
  const outward: CustomIntegrationEvent = { ...created, inbound: null, outbound }
  const elsewhere = { ...outbound, base_url: 'https://new.example.com' }

  scenario('says how another system is called', {
    given: [],
    when: create({ inbound: null, outbound }),
    then: [outward],
  })
  scenario('can be changed', {
    given: [outward],
    when: change({ inbound: null, outbound: elsewhere }),
    then: [{ type: 'CustomIntegrationChanged', inbound: null, outbound: elsewhere }],
  })
  scenario('is what it was changed to', {
    given: [outward, { type: 'CustomIntegrationChanged', inbound: null, outbound: elsewhere }],
    when: change({ inbound: null, outbound: elsewhere }),
    then: [],
  })
  scenario('keeps its direction: that cannot change later', {
    given: [outward],
    when: change({}),
    then: rejected('validation_failed', { direction: 'is outbound, and cannot be changed' }),
  })
  test('that was never created is not changed', () => {
    const changed: CustomIntegrationEvent = { type: 'CustomIntegrationChanged', inbound: null, outbound }

    expect(evolveCustomIntegration(undefined, changed, { occurred_at: '2026-01-15T12:00:00.000Z' })).toBeUndefined()
  })
})

describe('an event', () => {
  const sale = {
    kind: 'sold',
    at: '2026-01-15',
    ref: 'D-1',
    product: 'LIFE',
    reason: 'cooling_off',
    note: 'By phone',
    amounts: { premium: 12.5, commission: '40.00' },
  }
  const lead = { ours: policy_id, theirs: 'C-1', email: 'ada@example.org', phone: '07700 900123' }
  const event = { event: { name: 'sale.made', id: 7 }, sale, lead }

  test('of a listed type is read part by part, by the path of each', () => {
    expect(readEvent(inbound, event)).toEqual({
      event_type: 'sale.made',
      event_id: '7',
      policy_id: null,
      ignored: null,
      outcome: {
        type: 'sold',
        occurred_at: '2026-01-15',
        lead: {
          id: policy_id,
          external_id: 'C-1',
          email: 'ada@example.org',
          phone: '07700 900123',
          match_on_details: true,
        },
        deal_ref: 'D-1',
        product: 'LIFE',
        reason: 'cooling_off',
        note: 'By phone',
        values: { premium: '12.5', commission: '40.00' },
        unreadable: [],
      },
    })
  })

  test('has the fixed outcome type where one is set', () => {
    const fixed = { ...inbound, outcome_mapping: { ...mapping, type: 'quoted', type_column: null } }

    expect(readEvent(Inbound.parse(fixed), event).outcome?.type).toBe('quoted')
  })

  test('that holds something else than text or a number at a path says so, and the rest is read', () => {
    const { outcome } = readEvent(inbound, { ...event, sale: { ...sale, at: ['2026-01-15'], ref: {} } })

    expect(outcome).toMatchObject({ occurred_at: null, deal_ref: null, product: 'LIFE' })
    expect(outcome?.unreadable).toEqual(['occurred_at', 'deal_ref'])
  })

  test('that holds something unreadable in every part names each', () => {
    const wrong = {
      kind: [],
      at: [],
      ref: [],
      product: [],
      reason: [],
      note: [],
      amounts: { premium: [], commission: [] },
    }
    const nobody = { ours: {}, theirs: {}, email: true, phone: [] }

    const { outcome } = readEvent(inbound, { ...event, sale: wrong, lead: nobody })

    expect(outcome?.unreadable).toEqual([
      'type',
      'occurred_at',
      'lead.id',
      'lead.external_id',
      'lead.email',
      'lead.phone',
      'deal_ref',
      'product',
      'reason',
      'note',
      'values.premium',
      'values.commission',
    ])
    expect(outcome?.values).toEqual({})
  })

  test('says nothing where it holds nothing, null or an empty text, which is not unreadable', () => {
    const little = { kind: 'sold', ref: null, product: '  ', amounts: null }

    expect(readEvent(inbound, { event: { name: 'sale.made' }, sale: little, lead: 'ada@example.org' }).outcome).toEqual(
      {
        type: 'sold',
        occurred_at: null,
        lead: { id: null, external_id: null, email: null, phone: null, match_on_details: true },
        deal_ref: null,
        product: null,
        reason: null,
        note: null,
        values: {},
        unreadable: [],
      },
    )
  })

  test('is asked nothing that the mapping gives no path for', () => {
    const little = { ...mapping, deal_ref: null, product: null, reason: null, note: null, event_id: null, values: {} }

    expect(readEvent(Inbound.parse({ ...inbound, outcome_mapping: little }), event)).toMatchObject({
      event_id: null,
      outcome: { deal_ref: null, product: null, reason: null, note: null, values: {}, unreadable: [] },
    })
  })

  test('has its texts without what no table can hold, without spaces around them, and not without end', () => {
    const long = 'x'.repeat(2_001)
    const odd = { ...sale, ref: ' D\u0000-1 ', product: 'L\ud800', note: long }

    expect(readEvent(inbound, { ...event, sale: odd }).outcome).toMatchObject({
      deal_ref: 'D\ufffd-1',
      product: 'L\ufffd',
      note: long.slice(0, 2_000),
    })
  })

  test('of a type that is both an outcome and news of a policy is both', () => {
    const both = Inbound.parse({ ...inbound, update_event_types: ['sale.made'] })

    expect(readEvent(both, { ...event, policy: { ours: policy_id } })).toMatchObject({
      outcome: { type: 'sold' },
      policy_id,
      ignored: null,
    })
  })

  test('of a policy is read also where no outcomes are mapped', () => {
    const updates = Inbound.parse({ ...inbound, outcome_event_types: [], outcome_mapping: null })
    const changed = { event: { name: 'policy.changed', id: 7 }, policy: { ours: policy_id } }

    expect(readEvent(updates, changed)).toMatchObject({ policy_id, event_id: null, ignored: null })
  })

  test('of a policy names it by the service’s own id', () => {
    const changed = { event: { name: 'policy.changed' }, policy: { ours: policy_id } }

    expect(readEvent(inbound, changed)).toMatchObject({ policy_id, outcome: null, ignored: null })
  })

  test.each([
    ['another type', { event: { name: 'other' } }, 'other_event_type'],
    ['no type', {}, 'no_event_type'],
    ['no policy id', { event: { name: 'policy.changed' }, policy: { ours: 'P-1' } }, 'no_policy_id'],
    ['a type that every object has', { event: Object.create({ name: 'sale.made' }) as object }, 'no_event_type'],
  ])('with %s is ignored', (_what, ignored, why) => {
    expect(readEvent(inbound, ignored)).toMatchObject({ outcome: null, policy_id: null, ignored: why })
  })
})
