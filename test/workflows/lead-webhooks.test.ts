import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LeadWebhook } from '../../delivery-worker/lifecycle/webhook-specs.ts'
import { eventually, workflowService, type LeadBody, type WorkflowService } from './fixture.ts'

let service: WorkflowService
beforeAll(async () => {
  service = await workflowService({ workers: 2 })
}, 60_000)
afterAll(async () => service[Symbol.asyncDispose]())

const toCrm = { kind: 'webhook', endpoint_connection: 'crm' }
const owner_id = '71000000-0000-4000-8000-000000000001'

/** The webhooks of one workflow, once so many have come. */
const sentBy = async (name: string, count: number): Promise<readonly LeadBody[]> =>
  eventually(() => {
    const own = (service.hooks.received as readonly unknown[] as readonly LeadBody[]).filter(
      ({ workflow_name }) => workflow_name === name,
    )
    expect(own.length).toBeGreaterThanOrEqual(count)
    return own
  })

const requestsOf = (name: string) => service.hooks.requests.filter(({ raw_body }) => raw_body.includes(name))

test('the body of a lead webhook has every key of the specification, and is signed', async () => {
  const workflow = await service.workflow('Every key', { event_type: 'activity.call', campaign: 'spring' })
  const contact_id = await service.lead({
    campaign: 'spring',
    identity: {
      email: 'Ada@Example.org',
      phone: '07700 900123',
      first_name: 'Ada',
      last_name: 'Finch',
      external_id: 'crm-1',
    },
    declared: { budget: 2550, smoker: false, covers: ['life', 'critical_illness'] },
    consent: { method: 'form', service: { email: true, phone: true }, first_party_marketing: { sms: false } },
  })
  await service.act(
    contact_id,
    { act: 'assign_owner', owner_id },
    { act: 'set_next_action', next_action: { type: 'call', summary: 'Ring Ada', due_at: '2036-01-01T09:00:00Z' } },
    { act: 'mark', buying_signal: 'strong', priority: 'high' },
    { act: 'record_activity', kind: 'call', summary: 'Spoke with Ada', direction: 'outbound', channel: 'phone' },
  )

  const [body] = await sentBy('Every key', 1)
  const [request] = requestsOf('Every key')

  const contact = {
    contact_id,
    external_system_id: 'crm-1',
    name: 'Ada Finch',
    first_name: 'Ada',
    last_name: 'Finch',
    email: 'ada@example.org',
    phone: '+447700900123',
    email_verified: false,
    phone_verified: false,
    consent: {
      service: { email: 'granted', sms: 'unknown', whatsapp: 'unknown', phone: 'granted', post: 'unknown' },
      first_party_marketing: {
        email: 'unknown',
        sms: 'refused',
        whatsapp: 'unknown',
        phone: 'unknown',
        post: 'unknown',
      },
    },
    tps_status: null,
  }
  expect(body).toEqual({
    event_id: expect.any(String) as unknown,
    event_type: 'activity.call',
    trigger_name: 'On the timeline: call',
    occurred_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown,
    payload: {
      activity_id: expect.any(String) as unknown,
      kind: 'call',
      summary: 'Spoke with Ada',
      channel: 'phone',
      direction: 'outbound',
      related: null,
    },
    workflow_id: workflow.id,
    workflow_name: 'Every key',
    campaign_key: 'spring',
    contact_id,
    organization_id: service.organisation_id,
    contact,
    lead: {
      ...contact,
      stage: 'new',
      status: 'open',
      score: expect.any(Number) as unknown,
      owner_id,
      owner: { id: owner_id, name: 'Olive Owner', email: 'olive@example.org' },
      last_touched_at: expect.any(String) as unknown,
      buying_signal: 'strong',
      follow_up: false,
      outcome_reason: null,
      priority: 'high',
      vulnerable: false,
      snoozed_until: null,
      archived: false,
      next_action: { type: 'call', summary: 'Ring Ada', due_at: '2036-01-01T09:00:00.000Z' },
      fields: { budget: 2550, renewal: null, smoker: false, covers: ['life', 'critical_illness'] },
    },
    facts: { budget: '25.50', smoker: 'No', covers: 'life, critical_illness' },
  })
  expect(request?.headers['content-type']).toBe('application/json')
  expect([request?.status, request?.refused]).toEqual([200, undefined])
})

test('two webhook actions of one workflow share the event id and differ in their Idempotency-Key', async () => {
  await service.workflow('Two actions', { event_type: 'activity.note' }, [toCrm, toCrm])
  const contact_id = await service.lead()

  await service.act(contact_id, { act: 'record_activity', kind: 'note', summary: 'A note' })

  const bodies = await sentBy('Two actions', 2)
  const keys = requestsOf('Two actions').map(({ idempotency_key }) => idempotency_key)
  expect(new Set(bodies.map(({ event_id }) => event_id)).size).toBe(1)
  expect(bodies).toHaveLength(2)
  expect(new Set(keys).size).toBe(2)
})

test('a workflow limited to a campaign fires only for leads that arrived on it', async () => {
  await service.workflow('Only spring', { event_type: 'lead.created', campaign: 'spring' })
  await service.workflow('Any campaign', { event_type: 'lead.created' })

  const autumn = await service.lead({ campaign: 'autumn' })
  const none = await service.lead()
  const spring = await service.lead({ campaign: 'spring' })
  const all = await sentBy('Any campaign', 3)
  const limited = await sentBy('Only spring', 1)

  expect(limited.map(({ contact_id, campaign_key }) => [contact_id, campaign_key])).toEqual([[spring, 'spring']])
  expect(new Map(all.map(({ contact_id, campaign_key }) => [contact_id, campaign_key]))).toEqual(
    new Map<string, unknown>([
      [autumn, 'autumn'],
      [none, null],
      [spring, 'spring'],
    ]),
  )
  expect(all[0]).toMatchObject({ trigger_name: 'A lead arrives', payload: { source: 'website' } })
})

test('a retry is the same delivery and carries the lead as it is then', async () => {
  await service.workflow('Told again', { event_type: 'lead.task_completed' })
  const contact_id = await service.lead()
  const task_id = crypto.randomUUID()
  service.hooks.misbehave(({ raw_body }) => (raw_body.includes('Told again') ? { status: 503 } : undefined))
  await service.act(
    contact_id,
    { act: 'add_task', task_id, title: 'Send the brochure' },
    { act: 'complete_task', task_id },
  )
  await eventually(() => expect(requestsOf('Told again')).toHaveLength(1))
  await service.act(contact_id, { act: 'move_to_stage', stage: 'quoted' })
  service.hooks.misbehave(() => undefined)
  await eventually(async () => {
    await service.passTime(30)
    expect(requestsOf('Told again')).toHaveLength(2)
  })

  const [first, second] = requestsOf('Told again')
  const stages = [first, second].map((request) => (JSON.parse(request?.raw_body ?? '') as LeadBody).lead['stage'])
  expect(stages).toEqual(['new', 'quoted'])
  expect(second?.idempotency_key).toBe(first?.idempotency_key)
  expect(second?.headers['x-service-signature']).not.toBe(first?.headers['x-service-signature'])
  const [body] = await sentBy('Told again', 1)
  expect(body?.payload).toEqual({ task_id, title: 'Send the brochure' })
})

describe('run by hand', () => {
  test('a workflow is sent whatever else triggers it, once for a run, and no other workflow with it', async () => {
    const workflow = await service.workflow('By hand', { event_type: 'lead.snooze_ended' })
    await service.workflow('Not this one', { event_type: 'lead.manual_run' })
    const contact_id = await service.lead()
    const run_id = crypto.randomUUID()
    const run = () =>
      service.send('POST', `${service.admin}/workflows/${workflow.id}/runs`, {
        body: { contact_id, run_id, by: 'Olive Owner' },
      })

    const answers = await Promise.all([run(), run()])
    const [body] = await sentBy('By hand', 1)
    await run()

    expect(answers.map(({ status }) => status)).toEqual([201, 201])
    expect(answers[0].body.data).toEqual({ run_id, workflow_id: workflow.id, contact_id })
    expect(body).toMatchObject({
      event_type: 'lead.manual_run',
      trigger_name: 'Somebody runs it by hand',
      payload: { workflow_id: workflow.id, user_name: 'Olive Owner' },
      contact_id,
    })
    const runs = (await service.deliveries()).filter(({ type }) => type === 'lead.manual_run')
    expect(runs).toHaveLength(1)
  })

  test('it stands on the timeline and in the feed of who sent the lead', async () => {
    const { id } = await service.workflow('On the timeline', { event_type: 'lead.manual_run' })
    const contact_id = await service.lead()
    await service.send('POST', `${service.admin}/workflows/${id}/runs`, { body: { contact_id, by: 'Olive Owner' } })

    const timeline = await service.send<readonly object[]>('GET', `${service.admin}/leads/${contact_id}/timeline`)
    const feed = await service.send<readonly object[]>(
      'GET',
      `/api/v1/crm/events?contact_id=${contact_id}&type=lead.manual_run`,
      { token: service.sender.token },
    )

    const run = {
      event_type: 'lead.manual_run',
      payload: { workflow_id: id, user_name: 'Olive Owner' },
      actor: { type: 'user', name: 'Olive Owner' },
    }
    expect(timeline.body.data.at(-1)).toMatchObject(run)
    expect(feed.body.data).toEqual([expect.objectContaining(run)])
  })

  test('one that is archived, not about leads, or of another campaign is refused, and an unknown lead is not found', async () => {
    const spring = await service.workflow('Run on spring', { event_type: 'lead.created', campaign: 'spring' })
    const sales = await service.workflow('Run for sales', { event_type: 'policy.bound' })
    const archived = await service.workflow('Run no more', { event_type: 'lead.created' })
    await service.send('PATCH', `${service.admin}/workflows/${archived.id}`, { body: { state: 'archived' } })
    const contact_id = await service.lead({ campaign: 'autumn' })
    const run = async (id: string, who = contact_id) => {
      const { status, body } = await service.send('POST', `${service.admin}/workflows/${id}/runs`, {
        body: { contact_id: who },
      })
      return [status, Object.keys(body.error?.fields ?? {})]
    }

    expect(await run(spring.id)).toEqual([422, ['contact_id']])
    expect(await run(sales.id)).toEqual([422, ['workflow_id']])
    expect(await run(archived.id)).toEqual([422, ['workflow_id']])
    expect(await run(spring.id, crypto.randomUUID())).toEqual([404, []])
    expect(await run(crypto.randomUUID())).toEqual([404, []])
  })
})

test('an archived workflow sends nothing more, and enabled again it sends what happens from then on', async () => {
  const workflow = await service.workflow('Archived', { event_type: 'activity.booking' })
  const contact_id = await service.lead()
  const book = (summary: string) => service.act(contact_id, { act: 'record_activity', kind: 'booking', summary })
  const change = (state: string) =>
    service.send('PATCH', `${service.admin}/workflows/${workflow.id}`, { body: { state } })

  await change('archived')
  await book('while archived')
  await change('active')
  await book('while enabled')

  const bodies = await sentBy('Archived', 1)
  expect(bodies.map(({ payload }) => payload['summary'])).toEqual(['while enabled'])
})

test('nothing about an erased person leaves: a delivery that was planned ends with the reason', async () => {
  await service.workflow('Erased', { event_type: 'activity.complaint' })
  const contact_id = await service.lead()
  service.hooks.misbehave(({ raw_body }) => (raw_body.includes('"Erased"') ? { status: 503 } : undefined))
  await service.act(contact_id, { act: 'record_activity', kind: 'complaint', summary: 'Called twice' })
  await eventually(() => expect(requestsOf('"Erased"')).toHaveLength(1))

  await service.parts.dataKeys.erase({ organisation_id: service.organisation_id, subject: `person:${contact_id}` })
  service.hooks.misbehave(() => undefined)

  await eventually(async () => {
    await service.passTime(30)
    const ended = (await service.deliveries()).find(({ type }) => type === 'activity.complaint')
    expect(ended).toMatchObject({ state: 'failed', reason: 'not sent: the person was erased' })
  })
  expect(requestsOf('"Erased"')).toHaveLength(1)
})

test('killed in the middle, a worker is replaced by another, and what comes again has the same Idempotency-Key', async () => {
  const count = 40
  await service.workflow('Killed', { event_type: 'activity.letter' })
  const contact_id = await service.lead()
  await service.stopWorkers()
  const dying = service.startProcess()
  let kills: Promise<void> | undefined
  // What was sent is never answered: the worker is killed before it hears of it.
  service.hooks.misbehave(({ raw_body }) => {
    if (kills || !raw_body.includes('"Killed"') || requestsOf('"Killed"').length < 15) return undefined
    kills = dying.kill()
    return 'hang'
  })
  const letters = Array.from({ length: count }, (_, index) => ({
    act: 'record_activity',
    kind: 'letter',
    summary: `Letter ${index}`,
  }))

  await service.act(contact_id, ...letters)
  await eventually(() => expect(kills).toBeDefined())
  await kills
  await Promise.all([service.startWorker(), service.startWorker()])

  await eventually(async () => {
    await service.passTime(60)
    expect(
      (service.hooks.received as readonly object[]).filter((body) => JSON.stringify(body).includes('"Killed"')),
    ).toHaveLength(count)
  })
  const keysByEvent = Map.groupBy(requestsOf('"Killed"'), ({ raw_body }) => (JSON.parse(raw_body) as LeadBody).event_id)
  expect(keysByEvent.size).toBe(count)
  expect(requestsOf('"Killed"').length).toBeGreaterThan(count)
  for (const requests of keysByEvent.values())
    expect(new Set(requests.map(({ idempotency_key }) => idempotency_key)).size).toBe(1)
}, 90_000)

test('every body has the keys that the OpenAPI document promises, and no other', async () => {
  await service.workflow('As promised', { event_type: 'lead.created' })
  await service.lead()
  await sentBy('As promised', 1)

  for (const body of service.hooks.received) expect(LeadWebhook.parse(body)).toEqual(body)
})
