import { describe, expect, test } from 'vitest'
import { fromStored, toStored, type RecordedEvent } from '#domain/event.ts'
import { pipelineEvents } from '#domain/pipeline/events.ts'
import { pipeline } from '#domain/pipeline/pipeline.ts'
import { noContact, policyRulesEvents } from '#domain/policy-rules/events.ts'
import { defaultPolicyRules } from '#domain/policy-rules/record.ts'
import { storedEvents } from '#domain/stored-events.ts'
import { OrganisationId } from '#domain/values.ts'
import { readCustomer } from '../command-api/customer-input.ts'
import { EmailAddress } from '../command-api/email-address.ts'
import { readText } from '../command-api/ingests/read-text.ts'
import { formatsOn } from '../command-api/ingests/tidy.ts'
import { addressOf } from './email-addresses.ts'
import { samples } from './stored-events/samples.ts'

const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const today = '2026-01-15'

describe.each<[string, (text: string) => boolean]>([
  ['the definition', (text) => EmailAddress.safeParse(text).success],
  ['a customer', (email) => 'email' in readCustomer({ email }, { today, country: null }).details],
  ['what a campaign asks of a lead', formatsOn({ today, time_zone: 'Europe/London' }).email],
])('%s', (_where, isAddress) => {
  test.each([
    ['64 characters before the @', addressOf(64, 100), true],
    ['65 characters before the @', addressOf(65, 100), false],
    ['254 characters', addressOf(64, 254), true],
    ['255 characters', addressOf(64, 255), false],
    ['nothing before the @', '@example.org', false],
    ['no @', 'example.org', false],
  ])('%s', (_what, text, expected) => {
    expect(isAddress(text)).toBe(expected)
  })
})

test('what is wrong is told once, and says all that is asked for', () => {
  for (const text of ['nobody', addressOf(65, 100), addressOf(64, 255)])
    expect(EmailAddress.safeParse(text).error?.issues.map(({ message }) => message)).toEqual([
      'must be an email address of at most 254 characters, 64 of them before the @',
    ])
})

describe('in a text that is read', () => {
  const emailIn = (text: string) =>
    readText(`Please write to ${text} today.`, { today, time_zone: 'Europe/London' }).details.email

  test('an address of 64 characters before the @ is found', () => {
    expect(emailIn(addressOf(64, 100))).toBe(addressOf(64, 100))
  })
  test('a longer one is nobody’s, and its end is not taken for another’s', () => {
    expect(emailIn(addressOf(65, 100))).toBeUndefined()
  })
})

/** What was stored before there was a limit. */
describe('an address of 65 characters before the @ that is stored', () => {
  const isAddress = (value: unknown) => typeof value === 'string' && /^[^@\s]+@[^@\s]+$/.test(value)
  const withLongAddress = ({ data, ...event }: RecordedEvent): RecordedEvent => ({
    ...event,
    data: JSON.parse(
      JSON.stringify(data, (_key, value: unknown) => (isAddress(value) ? addressOf(65, 100) : value)),
    ) as RecordedEvent['data'],
  })
  const holdsLong = (data: unknown) => JSON.stringify(data).includes(addressOf(65, 100))
  const stored = samples.map(({ name, event }) => [name, withLongAddress(event)] as const)
  const holding = stored.filter(([, { data }]) => holdsLong(data))

  test('stands in events of customers, leads, the team and the firm', () => {
    const names = holding.map(([name]) => name)
    expect(names).toEqual(expect.arrayContaining(['CustomerSaved.v1', 'CustomerCreated.v1', 'IngestReceived.v1']))
    expect(names).toEqual(expect.arrayContaining(['PipelineDeclared.v1', 'PipelineDeclared.v2']))
  })
  test.each(holding)('is read from %s, and can be stored again', (_name, event) => {
    const read = fromStored(storedEvents, event)

    expect(holdsLong(toStored(storedEvents, read).data)).toBe(true)
  })
  test('stays the contact of a firm', () => {
    const rules = { ...defaultPolicyRules, contact: { ...noContact, email: addressOf(65, 100) } }
    const declared = { type: 'PolicyRulesDeclared', organisation_id, rules } as const

    expect(fromStored(storedEvents, toStored(policyRulesEvents, declared))).toEqual(declared)
  })
  test('stays a team member’s when another part of the pipeline is declared', () => {
    const [, event] =
      holding.find(([name]) => name === 'PipelineDeclared.v1') ?? expect.fail('There is no such sample.')
    const before = fromStored({ PipelineDeclared: pipelineEvents.PipelineDeclared }, event).pipeline
    const declared = { dormant_after_days: 77 }

    const [changed] = pipeline.decide({ type: 'DeclarePipeline', organisation_id, declared }, before)

    const { data } = toStored(pipelineEvents, changed ?? expect.fail('Nothing is changed.'))
    expect(data).toMatchObject({ pipeline: { ...declared, team_members: before.team_members } })
    expect(holdsLong(data)).toBe(true)
  })
})
