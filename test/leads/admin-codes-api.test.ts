import { afterAll, beforeAll, expect, test } from 'vitest'
import { leadService, type LeadService } from '../ingests/fixture.ts'
import { memberOf } from '../users/team.ts'
import { askedCodes, codeOf, documented, documentedCodes, refusal, refused, type Refused } from './codes.ts'

/** What the team asks about leads, and is refused: every code, and every input of a list. */

const requestsOfAnAddress = 400
const nobody = '00000000-0000-4000-8000-000000000000'

let service: LeadService
/** Ids of what there is, by what it is called here. */
const known: Record<string, string> = {}
const idOf = (name: string): string => known[name] ?? ''

const acts = async (contact_id: string, ...list: readonly object[]) =>
  service.send('POST', `${service.admin}/leads/${contact_id}/acts`, { body: { acts: list } })
const report = async (body: object) =>
  (
    await service.send<{ id: string }>('POST', '/api/v1/crm/outcomes', {
      token: service.sender.token,
      body: { occurred_at: '2026-01-15', ...body },
    })
  ).body.data.id

beforeAll(async () => {
  service = await leadService({ TRUSTED_PROXIES: '1', RATE_LIMIT_REQUESTS: String(requestsOfAnAddress) })
  const process = async (name: string, body: object) => {
    const { id, contact_id = '' } = await service.process(body)
    known[name] = id
    known[`${name}'s person`] = contact_id
    return contact_id
  }
  const ada = await process('ada', { identity: { email: 'ada@example.com', first_name: 'Ada' } })
  const ended = await process('ended', { identity: { email: 'ended@example.com' } })
  await process('held', { campaign: 'spring', identity: { email: 'held@example.com' } })
  await process('in review', { data: { colour: 'red' } })
  await acts(ended, { act: 'change_status', status: 'invalid' })
  await acts(ended, { act: 'mark', external_system_id: 'CRM-1' })
  await process('proposal', { identity: { contact_id: ada, email: 'another@example.com' } })
  await process('another', { identity: { email: 'another@example.com' } })

  const key = { name: 'auditor', scope: 'read_only' }
  const made = await service.send<{ key: string }>('POST', '/admin/v1/operator_keys', { body: key })
  known['key that only reads'] = made.body.data.key
  known['key of a finance clerk'] = (await memberOf(service, service.organisation_id, ['finance'])).key
  const cancelled = { type: 'cancelled', deal_ref: 'D-1' }
  await report({ contact_id: ada, ...cancelled })
  known['outcome'] = await report({ contact_id: ada, type: 'lost' })
  await service.send('POST', `${service.admin}/outcomes/${known['outcome']}/reverse`, { body: {} })
  const unheard = { lead: { email: 'unheard@example.com', match_on_details: true } }
  known['held outcome'] = await report({ ...unheard, ...cancelled })
  known['discarded outcome'] = await report({ ...unheard, type: 'lost' })
  await service.send('POST', `${service.admin}/held_outcomes/${known['discarded outcome']}/discard`, { body: {} })
  known['matched outcome'] = await report({ ...unheard, type: 'lost', note: 'another' })
  const lead = { body: { contact_id: ada } }
  await service.send('POST', `${service.admin}/held_outcomes/${known['matched outcome']}/match`, lead)
  const { body } = await service.send<readonly { id: string; key: string }[]>('GET', `${service.admin}/campaigns`)
  known['campaign'] = body.data.find(({ key }) => key === 'plain')?.id ?? ''
}, 120_000)
afterAll(() => service[Symbol.asyncDispose]())

type Asked = {
  readonly method: string
  readonly path: string
  readonly body?: object | undefined
  readonly organisation?: string
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
}
const sent = ({ method, path, body, organisation = service.organisation_id, token, headers }: Asked) =>
  service.send(method, `/admin/v1/organisations/${organisation}${path}`, {
    ...(body && { body }),
    ...(token !== undefined && { token }),
    ...(headers && { headers }),
  })

/** Who may not ask, who tries too often to be the operator, and what is no organisation: the same for every operation. */
const admission = (ask: () => Asked): Readonly<Record<string, () => Asked>> => ({
  'invalid_token: not the operator': () => ({ ...ask(), token: service.sender.token }),
  'forbidden: a user whose role does not open it': () => ({ ...ask(), token: idOf('key of a finance clerk') }),
  'rate_limited: too often from one address': () => ({
    ...ask(),
    token: 'none',
    headers: { 'x-forwarded-for': '203.0.113.7' },
  }),
  'not_found: no id of an organisation': () => ({ ...ask(), organisation: '7' }),
})
const shown = (ask: () => Asked): Readonly<Record<string, () => Asked>> => ({
  ...admission(ask),
  'not_found: no such organisation': () => ({ ...ask(), organisation: nobody }),
})
const changed = (ask: () => Asked): Readonly<Record<string, () => Asked>> => ({
  ...shown(ask),
  'forbidden: a key that only reads': () => ({ ...ask(), token: idOf('key that only reads') }),
})

const pages = { limit: '201', cursor: 'x' }
/** A list, and a value for each of its parameters that it does not take. */
const list = (path: () => string, wrong: Readonly<Record<string, string>>): Readonly<Record<string, () => Asked>> => ({
  ...admission(() => ({ method: 'GET', path: path() })),
  ...Object.fromEntries(
    Object.entries(wrong).map(([name, value]) => [
      `invalid_parameter ${name}`,
      () => ({ method: 'GET', path: `${path()}?${name}=${value}` }),
    ]),
  ),
})
const show = (path: () => string, absent: string): Readonly<Record<string, () => Asked>> => ({
  ...shown(() => ({ method: 'GET', path: path() })),
  'not_found: no such thing': () => ({ method: 'GET', path: absent }),
})

const act = (path: (id: string) => string, id: () => string, body: object = {}) => ({
  asked: (changes: object = {}): Asked => ({ method: 'POST', path: path(id()), body: { ...body, ...changes } }),
  of: (name: string, changes: object = {}): Asked => ({
    method: 'POST',
    path: path(name === nobody ? nobody : idOf(name)),
    body: { ...body, ...changes },
  }),
})

const accept = act(
  (id) => `/ingests/${id}/accept`,
  () => idOf('held'),
)
const discard = act(
  (id) => `/ingests/${id}/discard`,
  () => idOf('held'),
)
const pick = act(
  (id) => `/ingests/${id}/pick_person`,
  () => idOf('in review'),
  { contact_id: null },
)
const settle = act(
  (id) => `/people/${id}/proposed_details`,
  () => idOf("ada's person"),
  { source_id: nobody },
)
const say = act(
  (id) => `/people/${id}/consent`,
  () => idOf("ada's person"),
  { entries: [{ purpose: 'service', channel: 'email', state: 'granted' }], method: 'by phone' },
)
const work = act(
  (id) => `/leads/${id}/acts`,
  () => idOf("ada's person"),
  { acts: [{ act: 'end_snooze' }] },
)
const working = (changes: object) => () => work.asked({ acts: [changes] })
const match = act(
  (id) => `/held_outcomes/${id}/match`,
  () => idOf('held outcome'),
)
const matching = (name: string, lead: string) => () => match.of(name, { contact_id: idOf(lead) })
const correct = act(
  (id) => `/held_outcomes/${id}/correct`,
  () => idOf('held outcome'),
  {
    type: 'lost',
    occurred_at: '2026-01-15',
  },
)
const correcting = (changes: object) => () => correct.asked({ contact_id: idOf("ada's person"), ...changes })
const dismiss = act(
  (id) => `/held_outcomes/${id}/discard`,
  () => idOf('held outcome'),
)
const reverse = act(
  (id) => `/outcomes/${id}/reverse`,
  () => idOf('outcome'),
)
const uploaded = (path: string) =>
  act(
    () => path,
    () => '',
    { upload: 'file', rows: [{ line: 2, fields: {} }] },
  )
const [leadRows, outcomeRows] = [uploaded('/uploaded_leads'), uploaded('/uploaded_outcomes')]
const campaign = act(
  () => '/campaigns',
  () => '',
  { key: 'new', name: 'New' },
)
const change = (body: object) => (): Asked => ({ method: 'PATCH', path: `/campaigns/${idOf('campaign')}`, body })
const intake = (body: object) => (): Asked => ({ method: 'PATCH', path: '/lead_intake', body })
const badRule = [{ rule: 'age_range', field: 'dob' }]

const firm = '/admin/v1/organisations/{organisation_id}'
const operations: Refused<Asked> = {
  [`get ${firm}/leads`]: list(() => '/leads', {
    ...pages,
    status: 'asleep',
    stage: 'No!',
    owner_id: '7',
    order: 'any',
    source: 'x'.repeat(201),
    since: 'yesterday',
    until: 'tomorrow',
  }),
  [`get ${firm}/leads/{contact_id}`]: show(() => `/leads/${idOf("ada's person")}`, `/leads/${nobody}`),
  [`get ${firm}/leads/{contact_id}/timeline`]: list(() => `/leads/${idOf("ada's person")}/timeline`, pages),
  [`get ${firm}/leads/{contact_id}/history`]: list(() => `/leads/${idOf("ada's person")}/history`, {
    ...pages,
    order: 'any',
  }),
  [`get ${firm}/lead_events`]: list(() => '/lead_events', {
    ...pages,
    contact_id: '7',
    campaign_id: '7',
    type: 'Lead!',
    since: 'yesterday',
  }),
  [`get ${firm}/outcomes`]: list(() => '/outcomes', {
    ...pages,
    contact_id: '7',
    deal_ref: 'x'.repeat(201),
  }),
  [`get ${firm}/held_outcomes`]: list(() => '/held_outcomes', pages),
  [`get ${firm}/ingests`]: list(() => '/ingests', {
    ...pages,
    status: 'asleep',
    source: 'x'.repeat(65),
    campaign_id: '7',
    contact_id: '7',
    api_application_id: '7',
  }),
  [`get ${firm}/ingests/{ingest_id}`]: show(() => `/ingests/${idOf('held')}`, `/ingests/${nobody}`),
  [`get ${firm}/ingest_contents/{ingest_id}`]: show(
    () => `/ingest_contents/${idOf('held')}`,
    `/ingest_contents/${nobody}`,
  ),
  [`get ${firm}/proposed_details`]: list(() => '/proposed_details', pages),
  [`get ${firm}/reading_use`]: list(() => '/reading_use', { limit: '201', before: 'soon' }),
  [`get ${firm}/consent_history`]: list(() => '/consent_history', { ...pages, contact_id: '7' }),
  [`get ${firm}/campaigns`]: shown(() => ({ method: 'GET', path: '/campaigns' })),
  [`get ${firm}/campaigns/{campaign_id}`]: show(() => `/campaigns/${idOf('campaign')}`, `/campaigns/${nobody}`),
  [`get ${firm}/lead_intake`]: shown(() => ({ method: 'GET', path: '/lead_intake' })),
  [`post ${firm}/campaigns`]: {
    ...changed(campaign.asked),
    'conflict key': () => campaign.asked({ key: 'once' }),
    'validation_failed key': () => campaign.asked({ key: 'A b' }),
    'validation_failed name': () => campaign.asked({ name: '' }),
    'validation_failed state': () => campaign.asked({ state: 'asleep' }),
    'validation_failed rules[0]': () => campaign.asked({ rules: badRule }),
    'validation_failed field_names.A b': () => campaign.asked({ field_names: { 'A b': 'x' } }),
  },
  [`patch ${firm}/campaigns/{campaign_id}`]: {
    ...changed(change({ name: 'Plain' })),
    'not_found: unknown': () => ({ method: 'PATCH', path: `/campaigns/${nobody}`, body: {} }),
    'validation_failed name': change({ name: '' }),
    'validation_failed state': change({ state: 'asleep' }),
    'validation_failed rules[0]': change({ rules: badRule }),
    'validation_failed field_names.A b': change({ field_names: { 'A b': 'x' } }),
  },
  [`patch ${firm}/lead_intake`]: {
    ...changed(intake({})),
    'validation_failed rules[0]': intake({ rules: badRule }),
    'validation_failed blocked_sources[0]': intake({ blocked_sources: [''] }),
    'validation_failed trap_fields[0]': intake({ trap_fields: [''] }),
  },
  [`post ${firm}/uploaded_leads`]: {
    ...changed(leadRows.asked),
    'validation_failed campaign: unknown': () => leadRows.asked({ campaign: 'unheard' }),
    'validation_failed campaign: paused': () => leadRows.asked({ campaign: 'paused' }),
    'validation_failed campaign: archived': () => leadRows.asked({ campaign: 'archived' }),
    'validation_failed upload': () => leadRows.asked({ upload: '' }),
    'validation_failed rows': () => leadRows.asked({ rows: [] }),
    'validation_failed rows: 201': () =>
      leadRows.asked({ rows: Array.from({ length: 201 }, (_, index) => ({ line: index + 1, fields: {} })) }),
  },
  [`post ${firm}/uploaded_outcomes`]: {
    ...changed(outcomeRows.asked),
    'validation_failed upload': () => outcomeRows.asked({ upload: '' }),
    'validation_failed rows': () => outcomeRows.asked({ rows: [] }),
  },
  [`post ${firm}/ingests/{ingest_id}/accept`]: {
    ...changed(accept.asked),
    'not_found: unknown': () => accept.of(nobody),
    'invalid_transition: it is applied': () => accept.of('ada'),
    'invalid_transition: it is in review': () => accept.of('in review'),
  },
  [`post ${firm}/ingests/{ingest_id}/pick_person`]: {
    ...changed(pick.asked),
    'not_found: unknown': () => pick.of(nobody),
    'invalid_transition: it is held': () => pick.of('held'),
    'validation_failed contact_id: nobody': () => pick.asked({ contact_id: nobody }),
    'validation_failed contact_id: no id': () => pick.asked({ contact_id: '7' }),
  },
  [`post ${firm}/ingests/{ingest_id}/discard`]: {
    ...changed(discard.asked),
    'not_found: unknown': () => discard.of(nobody),
    'invalid_transition: it is applied': () => discard.of('ada'),
    'validation_failed note': () => discard.asked({ note: 'x'.repeat(501) }),
  },
  [`post ${firm}/people/{contact_id}/proposed_details`]: {
    ...changed(settle.asked),
    'not_found: nobody': () => settle.of(nobody),
    'conflict accept: the email address of another person': () =>
      settle.asked({ source_id: idOf('proposal'), accept: ['email'] }),
    'validation_failed source_id': () => settle.asked({ source_id: '7' }),
    'validation_failed accept[0]': () => settle.asked({ accept: ['shoe_size'] }),
    'validation_failed refuse[0]': () => settle.asked({ refuse: ['shoe_size'] }),
  },
  [`post ${firm}/people/{contact_id}/consent`]: {
    ...changed(say.asked),
    'not_found: nobody': () => say.of(nobody),
    'validation_failed entries': () => say.asked({ entries: [] }),
    'validation_failed entries[0].state': () =>
      say.asked({ entries: [{ purpose: 'service', channel: 'email', state: 'perhaps' }] }),
    'validation_failed method': () => say.asked({ method: '' }),
    'validation_failed wording': () => say.asked({ wording: '' }),
    'validation_failed said_at': () => say.asked({ said_at: 'yesterday' }),
  },
  [`post ${firm}/leads/{contact_id}/acts`]: {
    ...changed(work.asked),
    'not_found: nobody': () => work.of(nobody),
    'not_found: no such task': working({ act: 'complete_task', task_id: nobody }),
    'invalid_transition acts[0].status': () =>
      work.of("ended's person", { acts: [{ act: 'change_status', status: 'won', reason: null }] }),
    'conflict acts[0].external_system_id': working({ act: 'mark', external_system_id: 'CRM-1' }),
    'validation_failed acts': () => work.asked({ acts: [] }),
    'validation_failed by': () => work.asked({ by: '' }),
    'validation_failed acts[0].act': working({ act: 'dance' }),
    'validation_failed acts[0].stage': working({ act: 'move_to_stage', stage: 'limbo' }),
    'validation_failed acts[0].owner_id': working({ act: 'assign_owner', owner_id: nobody }),
    'validation_failed acts[0].until': working({ act: 'snooze', until: '2020-01-01T00:00:00.000Z' }),
    'validation_failed acts[0].kind': working({ act: 'record_activity', kind: 'dance', summary: 'x' }),
    'validation_failed acts[0].summary': working({ act: 'record_activity', kind: 'note', summary: '' }),
    'validation_failed acts[0].title': working({ act: 'add_task', title: '' }),
    'validation_failed acts[0].priority': working({ act: 'mark', priority: 'sometime' }),
    'validation_failed acts[0].buying_signal': working({ act: 'mark', buying_signal: 'loud' }),
  },
  [`post ${firm}/held_outcomes/{outcome_id}/match`]: {
    ...changed(() => match.asked({ contact_id: idOf("ended's person") })),
    'not_found: unknown': () => match.of(nobody, { contact_id: idOf("ada's person") }),
    'conflict: it was discarded': matching('discarded outcome', "ada's person"),
    'not_repeatable: it is recorded for the deal': matching('held outcome', "ada's person"),
    'validation_failed contact_id': () => match.asked({ contact_id: nobody }),
    'validation_failed by': () => match.asked({ contact_id: nobody, by: '' }),
  },
  [`post ${firm}/held_outcomes/{outcome_id}/correct`]: {
    ...changed(correcting({})),
    'not_found: unknown': () => correct.of(nobody, { contact_id: idOf("ada's person") }),
    'not_found: no such lead': () => correct.asked({ contact_id: nobody }),
    'conflict: it was discarded': () => correct.of('discarded outcome', { contact_id: idOf("ada's person") }),
    'not_repeatable: it is recorded for the deal': correcting({ type: 'cancelled', deal_ref: 'D-1' }),
    'validation_failed type': correcting({ type: 'flown' }),
    'validation_failed occurred_at': correcting({ occurred_at: '2999-01-01' }),
    'validation_failed lead': () => correct.asked(),
    'validation_failed product': correcting({ type: 'quoted', product: 'boat' }),
    'validation_failed values.premium': correcting({ type: 'quoted', values: { premium: 0.5 } }),
    'validation_failed currency': correcting({ currency: 'pounds' }),
  },
  [`post ${firm}/held_outcomes/{outcome_id}/discard`]: {
    ...changed(dismiss.asked),
    'not_found: unknown': () => dismiss.of(nobody),
    'conflict: it is recorded': () => dismiss.of('matched outcome'),
    'validation_failed by': () => dismiss.asked({ by: '' }),
  },
  [`post ${firm}/outcomes/{outcome_id}/reverse`]: {
    ...changed(reverse.asked),
    'not_found: unknown': () => reverse.of(nobody),
    'already_reversed: before': () => reverse.asked(),
    'validation_failed note': () => reverse.asked({ note: 'x'.repeat(501) }),
    'validation_failed by': () => reverse.asked({ by: '' }),
  },
}

// Several at once: an organisation that may only not be known yet is waited for before it is refused.
test.concurrent.each(Object.entries(operations))(
  '%s answers every code of its own, with the input that it names',
  async (_, asked) => {
    const ofItsOwn = Object.entries(asked).filter(([title]) => codeOf(title) !== 'rate_limited')
    for (const [title, ask] of ofItsOwn) expect(refused(title, await sent(ask()))).toMatchObject(refusal(title))
  },
)

test('every operation answers 429 rate_limited', async () => {
  const headers = { 'x-forwarded-for': '203.0.113.7' }
  for (let count = 0; count < requestsOfAnAddress; count += 20)
    await Promise.all(
      Array.from({ length: 20 }, () => sent({ method: 'GET', path: '/campaigns', token: 'none', headers })),
    )

  const tooOften = Object.values(operations).flatMap((asked) =>
    Object.entries(asked).filter(([title]) => codeOf(title) === 'rate_limited'),
  )
  for (const [title, ask] of tooOften) expect(refused(title, await sent(ask()))).toMatchObject(refusal(title))
})

const isOfLeads = (address: string): boolean =>
  address.startsWith(firm) &&
  /^\/(leads|lead_events|lead_intake|ingests|ingest_contents|outcomes|held_outcomes|uploaded_\w+|campaigns|reading_use|consent_history|proposed_details|people\/\{contact_id\}\/(proposed_details|consent))(\/|$)/.test(
    address.slice(firm.length),
  )

test('the document names exactly the codes that were seen, operation by operation', () => {
  expect(askedCodes(operations)).toEqual(documentedCodes(isOfLeads))
})

test('every parameter of a list is refused by its name, but a type of outcomes, which may be one of a former model', () => {
  const parametersOf = (title: string) => /^invalid_parameter (\w+)/.exec(title)?.[1]
  for (const [operation, { parameters = [] }] of documented(isOfLeads)) {
    const named = parameters.filter((each) => each.in === 'query').map(({ name }) => name)
    const asked = Object.keys(operations[operation] ?? {}).flatMap((title) => parametersOf(title) ?? [])
    const whatever = operation === `get ${firm}/outcomes` ? ['type'] : []
    expect({ operation, named: [...asked, ...whatever].toSorted() }).toEqual({ operation, named: named.toSorted() })
  }
})
