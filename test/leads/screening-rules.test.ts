import { describe, expect, test } from 'vitest'
import type { OneLeadCommand } from '#domain/leads/commands.ts'
import type { LeadEvent, LeadStatus, TpsStatus } from '#domain/leads/events.ts'
import { lead } from '#domain/leads/lead.ts'
import { MarketingPermission, marketingPermissions, isTerminal } from '#domain/leads/record.ts'
import { scenariosOf } from '../scenario.ts'
import { about, act, at, created, receive } from './builders.ts'

const scenario = scenariosOf(lead)
const screens = { screens_tps: true }
const expires_at = '2026-02-12T12:00:00.000Z'
const phone_number = '+447700900001'

const planned = (
  due_at: string | null,
  failed_tries = 0,
  trouble: 'no_answer' | null = null,
): Extract<LeadEvent, { type: 'LeadTpsScreeningPlanned' }> => ({
  type: 'LeadTpsScreeningPlanned',
  ...about,
  due_at,
  failed_tries,
  trouble,
})
const screened = (status: TpsStatus = 'clear'): LeadEvent => ({
  type: 'LeadTpsScreened',
  ...about,
  status,
  phone_number: status === 'not_applicable' ? null : phone_number,
  screened_at: at,
  expires_at,
})
const record = (status: TpsStatus = 'clear', planned_at = at): OneLeadCommand => ({
  type: 'RecordTps',
  status,
  phone_number: status === 'not_applicable' ? null : phone_number,
  screened_at: at,
  expires_at,
  planned_at,
})
const flag: OneLeadCommand = { type: 'FlagVulnerability', flagged: true, details: null }
const flagged: LeadEvent = { type: 'LeadVulnerabilityFlagged', ...about, flagged: true, details: null }
const change = (...changed: string[]): OneLeadCommand => ({ type: 'RecordDetailsChange', changed })
const changed = (...names: string[]): LeadEvent => ({ type: 'ContactDetailsChanged', ...about, changed: names })
const became = (to: LeadStatus, from: LeadStatus = 'open'): LeadEvent => ({
  type: 'LeadStatusChanged',
  ...about,
  from,
  to,
  reason: null,
  dormant_at: to === 'open' ? '2026-02-14T12:00:00.000Z' : null,
  first_contact_due_at: isTerminal(to) ? null : created.first_contact_due_at,
})

describe('a number is screened', () => {
  scenario('when the lead arrives', { given: [], when: act(receive(), screens), then: [created, planned(at)] })
  scenario('never where nobody screens for the organisation', { given: [], when: act(receive()), then: [created] })
  scenario('with the next that happens, when it never was', {
    given: [created],
    when: act(flag, screens),
    then: [flagged, planned(at)],
  })
  scenario('not for what changes nothing', {
    given: [created, flagged],
    when: act(flag, screens),
    then: [],
  })
  scenario('once: a plan stands until it is carried out', {
    given: [created, planned(at)],
    when: act(flag, { ...screens, now: expires_at }),
    then: [flagged],
  })
  scenario('again when the number changes, before its time', {
    given: [created, planned(at), screened()],
    when: act(change('email', 'phone_number'), { ...screens, now: '2026-01-16T12:00:00.000Z' }),
    then: [changed('email', 'phone_number'), planned('2026-01-16T12:00:00.000Z')],
  })
  scenario('again when the number changes among other things', {
    given: [created, planned(at), screened()],
    when: act([flag, change('phone_number')], { ...screens, now: '2026-01-16T12:00:00.000Z' }),
    then: [flagged, changed('phone_number'), planned('2026-01-16T12:00:00.000Z')],
  })
  scenario('at the moment that is planned already, when the number changes at it', {
    given: [created, planned(at)],
    when: act(change('phone_number'), screens),
    then: [changed('phone_number')],
  })
  scenario('not again when another detail changes', {
    given: [created, planned(at), screened()],
    when: act(change('email'), screens),
    then: [changed('email')],
  })
  for (const status of ['won', 'lost', 'disqualified', 'duplicate', 'invalid', 'not_interested', 'ineligible'] as const)
    scenario(`not of a lead that is ${status}`, {
      given: [created, became(status)],
      when: act(change('phone_number'), screens),
      then: [changed('phone_number')],
    })
  scenario('of a dormant lead as of an open one', {
    given: [created, became('dormant')],
    when: act(change('phone_number'), screens),
    then: [changed('phone_number'), planned(at)],
  })
  scenario('at the end of its screening, when an ended lead is opened again', {
    given: [created, planned(at), screened(), became('invalid')],
    when: act({ type: 'ChangeStatus', status: 'open', reason: null }, screens),
    then: [became('open', 'invalid'), planned(expires_at)],
  })
  scenario('not of an opened lead whose number cannot be on a list', {
    given: [created, planned(at), screened('not_applicable'), became('invalid')],
    when: act({ type: 'ChangeStatus', status: 'open', reason: null }, screens),
    then: [became('open', 'invalid')],
  })
  scenario('not while there is no number that can be on a list', {
    given: [created, planned(at), screened('not_applicable')],
    when: act(flag, screens),
    then: [flagged],
  })
})

describe('what the screening says', () => {
  for (const status of ['clear', 'registered', 'not_applicable'] as const)
    scenario(`is recorded: ${status}`, {
      given: [created, planned(at)],
      when: act(record(status), screens),
      then: [screened(status)],
    })
  scenario('is recorded once', { given: [created, planned(at), screened()], when: act(record(), screens), then: [] })
  scenario('is left when another plan has taken its place', {
    given: [created, planned(expires_at)],
    when: act(record(), screens),
    then: [],
  })
  scenario('is left when nothing is planned', { given: [created], when: act(record(), screens), then: [] })
  scenario('holds until its end, when it is planned again', {
    given: [created, planned(at), screened()],
    when: act(record('registered', expires_at), screens),
    then: [screened('registered')],
  })
  scenario('of a number that can be on no list is not asked for again', {
    given: [created, planned(at), screened('not_applicable')],
    when: act(record('clear', expires_at), screens),
    then: [],
  })
  scenario('of an ended lead is left', {
    given: [created, planned(at), became('lost')],
    when: act(record(), screens),
    then: [],
  })
})

describe('a number that could not be screened', () => {
  const retry_at = '2026-01-15T12:05:00.000Z'
  const defer = (planned_at: string, at_last: string | null = retry_at) =>
    ({ type: 'DeferTps', planned_at, retry_at: at_last, trouble: at_last === null ? null : 'no_answer' }) as const
  scenario('is tried again later, and says why', {
    given: [created, planned(at)],
    when: act(defer(at), screens),
    then: [planned(retry_at, 1, 'no_answer')],
  })
  scenario('each try in vain counts', {
    given: [created, planned(at, 4, 'no_answer')],
    when: act(defer(at), screens),
    then: [planned(retry_at, 5, 'no_answer')],
  })
  scenario('is not tried again when nobody screens any more', {
    given: [created, planned(at, 4, 'no_answer')],
    when: act(defer(at, null)),
    then: [planned(null)],
  })
  scenario('is not planned again by that very news, though somebody screens meanwhile', {
    given: [created, planned(at, 4, 'no_answer')],
    when: act(defer(at, null), screens),
    then: [planned(null)],
  })
  scenario('and is then planned no more', {
    given: [created, planned(at), planned(null)],
    when: act(defer(at)),
    then: [],
  })
  scenario('is left when another plan has taken its place', {
    given: [created, planned(expires_at)],
    when: act(defer(at), screens),
    then: [],
  })
})

describe('marketing', () => {
  const said = (channel: string, state: 'granted' | 'refused' | 'withdrawn', purpose = 'first_party_marketing') => ({
    purpose,
    channel,
    state,
  })
  const of = (...given: Parameters<typeof marketingPermissions>) =>
    Object.fromEntries(
      MarketingPermission.array()
        .parse(marketingPermissions(...given))
        .map(({ channel, allowed, reason }) => [channel, `${allowed} ${reason}`]),
    )
  const unasked = {
    email: 'false no_consent',
    sms: 'false no_consent',
    whatsapp: 'false no_consent',
    post: 'true no_objection',
    phone: 'false not_screened',
  }
  test('takes consent by email and message, none by letter, and by phone a number that is on neither list', () => {
    expect(of([], null)).toEqual(unasked)
    expect(of([], 'clear')).toEqual({ ...unasked, phone: 'true not_on_tps' })
    expect(of([], 'not_applicable')).toEqual({ ...unasked, phone: 'true not_on_tps' })
    expect(of([], 'registered')).toEqual({ ...unasked, phone: 'false on_tps' })
  })
  test.each(['email', 'sms', 'whatsapp', 'post', 'phone'])('by %s follows what the person said', (channel) => {
    expect(of([said(channel, 'granted')], 'registered')).toMatchObject({ [channel]: 'true granted' })
    expect(of([said(channel, 'refused')], 'clear')).toMatchObject({ [channel]: 'false refused' })
    expect(of([said(channel, 'withdrawn')], 'clear')).toMatchObject({ [channel]: 'false withdrawn' })
  })
  test('is not what the person allowed on another channel or for another purpose', () => {
    expect(of([said('email', 'granted')], null)).toEqual({ ...unasked, email: 'true granted' })
    expect(of([said('phone', 'refused', 'third_party_marketing')], null)).toEqual(unasked)
    expect(of([said('post', 'refused', 'service'), said('post', 'granted')], null)).toEqual({
      ...unasked,
      post: 'true granted',
    })
  })
})
