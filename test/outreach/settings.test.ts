import { describe, expect, test } from 'vitest'
import type { OutreachSettingsEvent, StreamChoices } from '#domain/outreach/events.ts'
import { choiceFaults } from '#domain/outreach/choice-faults.ts'
import { LocalTime, outreachPersonEvents } from '#domain/outreach/events.ts'
import { filledIn, textOf } from '#domain/outreach/message-text.ts'
import { microPenceOf, rateOn } from '#domain/outreach/money.ts'
import { outreachPerson } from '#domain/outreach/person.ts'
import { noCounts, noSettings, outreachSettingsFold, outreachStreamsFold, streamsOf } from '#domain/outreach/record.ts'
import type { OutreachSettings, OutreachStream } from '#domain/outreach/record.ts'
import { outreachSettings, type ChangeSettings } from '#domain/outreach/settings.ts'
import { OperatedStream, renderOperated } from '#domain/outreach/shown.ts'
import { outreachStream } from '#domain/outreach/stream.ts'
import { OrganisationId, OutreachStreamId } from '#domain/values.ts'
import { scenariosOf, stateOf } from '../scenario.ts'
import { recorded } from '../recorded.ts'
import { contact_id, startedStream, streamCreated } from './builders.ts'

const scenario = scenariosOf(outreachSettings)
const { organisation_id, stream_id } = streamCreated
const plain = { schedule: null, skip_if_unchanged: null, survey: null }

const rate = (day: string, usd_rate: string): OutreachSettingsEvent => ({
  type: 'ExchangeRateRecorded',
  organisation_id,
  day,
  usd_rate,
})
const priced = (input_usd_micros: number, output_usd_micros: number): OutreachSettingsEvent => ({
  type: 'WriterPriced',
  organisation_id,
  input_usd_micros,
  output_usd_micros,
})
const switched = (is_on: boolean): OutreachSettingsEvent => ({ type: 'OutreachSwitched', organisation_id, is_on })

describe('what is set up for all streams', () => {
  const change = (changes: Partial<ChangeSettings>): ChangeSettings => ({
    type: 'ChangeSettings',
    organisation_id,
    is_on: undefined,
    writer_price: undefined,
    exchange_rates: [],
    ...changes,
  })
  const writer_price = { input_usd_micros: 1, output_usd_micros: 2 }
  const first = { day: '2026-01-01', usd_rate: '0.8' }

  scenario('is changed together', {
    given: [],
    when: change({ is_on: true, writer_price, exchange_rates: [first] }),
    then: [switched(true), priced(1, 2), rate('2026-01-01', '0.8')],
  })
  scenario('stays as it is where nothing is said', { given: [switched(true)], when: change({}), then: [] })
  scenario('stays as it is where the same is said', {
    given: [switched(true), priced(1, 2), rate('2026-01-01', '0.8')],
    when: change({ is_on: true, writer_price, exchange_rates: [first] }),
    then: [],
  })
  scenario('is switched off', { given: [switched(true)], when: change({ is_on: false }), then: [switched(false)] })
  scenario('has another price', {
    given: [priced(1, 2)],
    when: change({ writer_price: { input_usd_micros: 1, output_usd_micros: 3 } }),
    then: [priced(1, 3)],
  })
  scenario('has another rate for a day, and the rate of a day for another', {
    given: [rate('2026-01-01', '0.8')],
    when: change({
      exchange_rates: [
        { day: '2026-01-01', usd_rate: '0.9' },
        { day: '2026-01-02', usd_rate: '0.8' },
      ],
    }),
    then: [rate('2026-01-01', '0.9'), rate('2026-01-02', '0.8')],
  })

  const settingsAfter = (...events: readonly OutreachSettingsEvent[]) => stateOf(outreachSettings, events)
  test('is off, without prices and rates, before anything is said', () => {
    expect(settingsAfter()).toEqual({
      is_on: false,
      writer_price: { input_usd_micros: 0, output_usd_micros: 0 },
      exchange_rates: [],
    })
  })
  test('keeps the rates in the order of their days, and the last of each', () => {
    const said = [rate('2026-01-02', '2'), rate('2026-01-03', '3'), rate('2026-01-01', '1'), rate('2026-01-02', '4')]
    expect(settingsAfter(switched(true), priced(1, 2), ...said)).toEqual({
      is_on: true,
      writer_price,
      exchange_rates: [
        { day: '2026-01-01', usd_rate: '1' },
        { day: '2026-01-02', usd_rate: '4' },
        { day: '2026-01-03', usd_rate: '3' },
      ],
    })
  })
  test('keeps the rates of the last 400 days that have one', () => {
    const days = Array.from({ length: 401 }, (_, number) =>
      new Date(Date.UTC(2025, 0, 1 + number)).toISOString().slice(0, 10),
    )
    const { exchange_rates } = settingsAfter(...days.map((day) => rate(day, '1')))
    expect(exchange_rates.map(({ day }) => day)).toEqual(days.slice(1))
  })
  test('is kept for each organisation', () => {
    const other = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5eff')
    const occurred_at = '2026-01-15T12:00:00.000Z'
    const all = new Map<string, OutreachSettings>()
    for (const event of [switched(true), priced(1, 2), { ...priced(3, 4), organisation_id: other }])
      outreachSettingsFold.apply(all, event, { stream: 'outreach_settings-1', metadata: { occurred_at } })
    expect(all.get(organisation_id)).toEqual({ ...noSettings, is_on: true, writer_price })
    expect(all.get(other)).toMatchObject({ is_on: false, writer_price: { input_usd_micros: 3 } })
  })
})

describe('a cost', () => {
  const exchange_rates = [
    { day: '2026-01-01', usd_rate: '0.8' },
    { day: '2026-01-10', usd_rate: '0.7912' },
  ]
  test.each([
    ['before the first rate', '2025-12-31', exchange_rates[0]],
    ['on the day of a rate', '2026-01-10', exchange_rates[1]],
    ['the day before it', '2026-01-09', exchange_rates[0]],
  ])('%s is that of the rate known by then, or the first', (_what, day, expected) => {
    expect(rateOn({ ...noSettings, exchange_rates }, day)).toEqual(expected)
  })
  test('without any rate is a pound for a dollar', () => {
    expect(rateOn(noSettings, '2026-01-10')).toEqual({ day: null, usd_rate: '1' })
  })
  test.each([
    [1_000_000, '1', 100_000_000],
    [1_000_000, '12', 1_200_000_000],
    [1_000_000, '1.25', 125_000_000],
    [1, '0.00500000', 1],
    [1, '0.00499999', 0],
  ])('%d millionths of a dollar at %s are %d millionths of a penny', (micros, usd_rate, expected) => {
    expect(microPenceOf(micros, usd_rate)).toBe(expected)
  })
})

describe('what a message is made from', () => {
  const texts = [1, 2].map((after_days) => ({ after_days, subject: `S${after_days}`, body: `B${after_days}` }))
  const issue_texts = [{ after_days: 0, subject: 'Issue', body: 'As released' }]
  const follow_up = { subject: 'Again', body: 'Still there?' }
  const all = { texts, follow_up, issue_texts }
  const bare = { texts, follow_up: null, issue_texts: null }
  const none = { texts: [], follow_up: null, issue_texts: null }
  const answer = 'Answer what the person wrote, in a few friendly sentences.'

  test.each([
    ['text', 1, all, texts[1]],
    ['text', 2, all, texts[0]],
    ['follow_up', 1, all, follow_up],
    ['follow_up', 1, bare, texts[0]],
    ['issue', 3, all, issue_texts[0]],
    ['issue', 3, bare, texts[0]],
    ['issue', 3, { ...bare, issue_texts: [] }, texts[0]],
    ['answer', 1, all, { subject: 'S1', body: answer }],
    ['text', 0, none, { subject: null, body: '' }],
  ] as const)('a %s with the number %d of %j is %j', (role, number, stream, expected) => {
    expect(textOf(stream, role, number)).toEqual(expected)
  })
  test('a tab before what is not known is left out with it', () => {
    expect(filledIn('Hello\t{{first_name}}.', { first_name: '' })).toBe('Hello.')
  })
})

describe('why a stream cannot be as it is chosen', () => {
  const faults = (kind: OutreachStream['kind'], changes: Partial<StreamChoices>) =>
    choiceFaults(kind, { ...startedStream(plain), ...changes })
  const texts = [1, 2].map(() => ({ after_days: 0, subject: 'Hello', body: 'Hello' }))

  test.each<readonly [OutreachStream['kind'], Partial<StreamChoices>, Readonly<Record<string, string>>]>([
    ['survey', {}, { survey: 'is needed for a survey' }],
    ['mailshot', { offset_days: 1 }, { offset_days: 'has no place in a mailshot' }],
    ['mailshot', { texts }, { texts: 'are one for a mailshot' }],
    ['sequence', { texts }, {}],
    [
      'mailshot',
      { texts: [{ after_days: 0, subject: null, body: 'Hello' }] },
      { 'texts[0].subject': 'is needed for an email' },
    ],
    ['mailshot', { channels: ['sms', 'email', 'sms'] }, { channels: 'names sms twice' }],
  ])('a %s with %j: %j', (kind, changes, expected) => {
    expect(faults(kind, changes)).toEqual(expected)
  })
  test.each([
    ['https://example.com', true],
    ['http://example.com/page', true],
    ['see https://example.com', false],
    ['https://', false],
    ['https:///page', false],
    ['', false],
  ])('the web address %j is usable: %s', (landing_url, isUsable) => {
    const fault = { landing_url: 'must be a web address, such as https://example.com' }
    expect(faults('mailshot', { landing_url })).toEqual(isUsable ? {} : fault)
  })
  test('a time of day says how it is written', () => {
    expect(LocalTime.safeParse('9:00').error?.issues[0]?.message).toBe('must be a time, as HH:MM')
  })
})

describe('the streams that a process keeps in memory', () => {
  const one = startedStream()
  const stream = (id: string, slug: string, of = organisation_id): OutreachStream => ({
    ...one,
    id: OutreachStreamId.parse(id),
    slug,
    organisation_id: of,
  })
  test('are those of an organisation, by slug', () => {
    const other = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5eff')
    const all = [
      stream('0e000000-0000-4000-8000-0000000000b1', 'bravo'),
      stream('0e000000-0000-4000-8000-0000000000b2', 'alpha'),
      stream('0e000000-0000-4000-8000-0000000000b3', 'other', other),
      stream('0e000000-0000-4000-8000-0000000000b4', 'charlie'),
    ]
    const slugs = streamsOf(new Map(all.map((each) => [each.id, each])), organisation_id).map(({ slug }) => slug)
    expect(slugs).toEqual(['alpha', 'bravo', 'charlie'])
  })
  test('follow their events; of one that was never created nothing is kept', () => {
    const streams = new Map<string, OutreachStream>()
    const started = { type: 'OutreachStreamStarted', stream_id, next_issue_at: null } as const
    const events = [started, streamCreated, started] as const
    const all = recorded(outreachStream.events, `outreach-${stream_id}`, events)
    const sizes = events.map((event, index) => {
      const record = all[index]
      if (record) outreachStreamsFold.apply(streams, event, record)
      return streams.size
    })
    expect(sizes).toEqual([0, 1, 1])
    expect(streams.get(stream_id)?.started_at).not.toBeNull()
  })
  test('are shown to the operator with what the firm sees', () => {
    const counts = { ...noCounts, rows: 3, sent: 2 }
    const shown = renderOperated(startedStream(plain), counts)
    const { slug, started_at, texts, landing_url, campaigns } = one
    expect(OperatedStream.parse(shown)).toEqual(shown)
    expect(shown).toMatchObject({ id: stream_id, rows_count: 3, sent_count: 2, status: 'active' })
    expect(shown).toMatchObject({ slug, started_at, texts, landing_url, campaigns })
  })
})

test('each event of a person is theirs: their erasure makes it unreadable', () => {
  const { category } = outreachPerson
  const subjects = Object.values(outreachPersonEvents).map(({ subject }) => subject({}, contact_id))
  expect(new Set(subjects)).toEqual(new Set([contact_id]))
  expect([category, outreachStream.category, outreachSettings.category]).toEqual([
    'outreach_person',
    'outreach',
    'outreach_settings',
  ])
})
