import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { LeadFeedEvent } from '#domain/lead-feed/record.ts'
import { LeadTriggerType } from '#domain/workflows/events.ts'
import { startTps } from '../../stand-ins/tps.ts'
import { leadService, type LeadService } from '../ingests/fixture.ts'

let tps: Awaited<ReturnType<typeof startTps>>
let service: LeadService
beforeAll(async () => {
  tps = await startTps()
  service = await leadService({ DELIVERY_ALLOWED_HOSTS: '127.0.0.1', DELIVERY_ALLOW_HTTP: 'true' })
}, 60_000)
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await tps.close()
})

const olive = '71000000-0000-4000-8000-000000000001'

/** All that starts workflows of leads; `lead.manual_run` is tested with them. Of activities, one for each way that they come about. */
const events = [
  ...LeadTriggerType.options.filter((type) => !type.startsWith('activity.') && type !== 'lead.manual_run'),
  'activity.form',
  'activity.reply',
  'activity.outcome',
]

test('every event of a lead is brought about by an ingest, an act of the team, a timer, a screening or an outcome', async () => {
  await service.setUp(`
organisations:
  - slug: firm
    name: A firm
    provider_accounts: [{ provider: tpsclear, base_url: '${tps.url}', secret: key }]
    team_members: [{ id: ${olive}, full_name: Olive Owner, email: olive@example.org }]
`)
  const identity = { email: 'every.event@example.com', first_name: 'Ada' }
  const { contact_id } = await service.process({ identity, declared: { colour: 'red' } })
  await service.process({ identity: { ...identity, phone: '07700 900121' } })
  const soon = new Date(service.parts.clock.now().getTime() + 3_600_000).toISOString()
  const task_id = crypto.randomUUID()
  const acts = [
    { act: 'move_to_stage', stage: 'contacted' },
    { act: 'assign_owner', owner_id: olive },
    { act: 'flag_vulnerability', flagged: true },
    { act: 'add_task', task_id, title: 'Send the brochure' },
    { act: 'complete_task', task_id },
    { act: 'set_next_action', next_action: { type: 'call', summary: null, due_at: soon } },
    { act: 'snooze', until: soon },
    { act: 'record_activity', kind: 'reply', summary: 'Wrote back.', direction: 'inbound' },
  ]
  const worked = await service.send('POST', `${service.admin}/leads/${contact_id}/acts`, { body: { acts } })
  expect(worked.status).toBe(200)
  await service.send('POST', '/admin/v1/clock', { body: { forward_seconds: 2 * 3_600 } })

  const told = async () => {
    const path = `/api/v1/crm/events?contact_id=${contact_id}&limit=200`
    return (await service.send<LeadFeedEvent[]>('GET', path, { token: service.sender.token })).body.data
  }
  const seen = async () => new Set((await told()).map(({ event_type }) => event_type))
  const patience = { timeout: 60_000, interval: 100 }
  await vi.waitUntil(async () => {
    const types = await seen()
    return ['lead.next_action_due', 'lead.first_contact_overdue', 'lead.snooze_ended', 'lead.tps_screened'].every(
      (type) => types.has(type),
    )
  }, patience)

  const events_told = await told()
  const ofType = (type: string) => events_told.find(({ event_type }) => event_type === type)
  expect(ofType('lead.created')?.actor).toEqual({ type: 'api', name: expect.stringMatching(/^Client /) as unknown })
  // The clock went on an hour beyond the moment.
  const overdue = ofType('lead.first_contact_overdue')?.payload['minutes_overdue']
  expect(overdue).toBeGreaterThanOrEqual(60)

  const occurred_at = service.parts.clock.now().toISOString()
  const outcome = { contact_id, type: 'lost', occurred_at, reason: 'price' }
  const reported = await service.send('POST', '/api/v1/crm/outcomes', { token: service.sender.token, body: outcome })
  expect(reported.status).toBe(201)
  const reason = [{ act: 'set_outcome_reason', reason: 'price', note: 'Too dear' }]
  await service.send('POST', `${service.admin}/leads/${contact_id}/acts`, { body: { acts: reason } })

  await vi.waitUntil(async () => (await seen()).has('activity.outcome'), patience)
  expect([...(await seen())]).toEqual(expect.arrayContaining(events) as unknown)
}, 180_000)

test('what a file of leads brings about is the act of the team', async () => {
  const rows = [{ line: 2, fields: { email: 'from.file@example.com', first_name: 'Ben' } }]
  await service.send('POST', `${service.admin}/uploaded_leads`, { body: { upload: 'one row', rows } })

  await vi.waitFor(
    async () => {
      const path = `${service.admin}/lead_events?type=lead.created&limit=200`
      const { data } = (await service.send<LeadFeedEvent[]>('GET', path)).body
      expect(data.find(({ payload }) => payload['source'] === 'upload')?.actor).toEqual({ type: 'user', name: null })
    },
    { timeout: 60_000, interval: 100 },
  )
})
