import { afterAll, beforeAll, expect, test } from 'vitest'
import { leadService, type LeadService } from '../ingests/fixture.ts'
import type { Client } from '../whole-service.ts'

let service: LeadService
let strangers: { readonly admin: string; readonly client: Client }
let theirs: {
  readonly contact_id: string
  readonly ingest_id: string
  readonly held_id: string
  readonly outcome_id: string
}
beforeAll(async () => {
  service = await leadService()
  const id = await service.organisation('strangers')
  const client = await service.client(id, ['read', 'write', 'crm', 'outcomes'])
  strangers = { admin: `/admin/v1/organisations/${id}`, client }
  const { body } = await service.post({ identity: { email: 'ada@strangers.example' } }, {}, client)
  const { contact_id = '' } = await service.settled(body.data.id, client)
  const report = { type: 'quoted', occurred_at: '2026-01-15' }
  const held = await asStranger('/api/v1/crm/outcomes', {
    ...report,
    lead: { email: 'x@y.example', match_on_details: true },
  })
  const recorded = await asStranger('/api/v1/crm/outcomes', { ...report, contact_id, event_id: 'theirs' })
  theirs = {
    contact_id,
    ingest_id: body.data.id,
    held_id: held.body.data.id,
    outcome_id: recorded.body.data.id,
  }
}, 60_000)
afterAll(() => service[Symbol.asyncDispose]())

const asStranger = (path: string, body: object) =>
  service.send<{ id: string }>('POST', path, { token: strangers.client.token, body })
const ask = (path: string, token: string) => service.send<readonly unknown[]>('GET', path, { token })

test('the id of another organisation is as one that there is not, wherever an id is taken', async () => {
  const { contact_id, ingest_id, held_id, outcome_id } = theirs
  const outcomes = await service.client(service.organisation_id, ['read', 'write', 'crm', 'outcomes'])
  const api = (method: string, path: string, body?: object) =>
    service.send('POST' === method ? 'POST' : 'GET', `/api/v1/crm${path}`, {
      token: outcomes.token,
      ...(body && { body }),
    })
  const team = (path: string, body: object) => service.send('POST', `${service.admin}${path}`, { body })
  const own = await service.process({ identity: { email: 'ben@example.com' } })
  const ownHeld = await api('POST', '/outcomes', {
    type: 'quoted',
    occurred_at: '2026-01-15',
    lead: { email: 'nobody@example.com', match_on_details: true },
  })
  const act = { acts: [{ act: 'add_task', title: 'Ring' }] }
  const report = { type: 'quoted', occurred_at: '2026-01-15' }
  const asked = {
    'GET ingest': api('GET', `/ingests/${ingest_id}`),
    'outcome by contact_id': api('POST', '/outcomes', { ...report, contact_id }),
    'outcome by lead.id': api('POST', '/outcomes', { ...report, lead: { id: contact_id } }),
    'reverse by id': api('POST', `/outcomes/${outcome_id}/reverse`, {}),
    'reverse by event_id': api('POST', '/outcomes/reverse', { event_id: 'theirs' }),
    'team: acts': team(`/leads/${contact_id}/acts`, act),
    'team: accept': team(`/ingests/${ingest_id}/accept`, {}),
    'team: discard': team(`/ingests/${ingest_id}/discard`, {}),
    'team: pick person of theirs': team(`/ingests/${ingest_id}/pick_person`, { contact_id: null }),
    'team: match what they hold': team(`/held_outcomes/${held_id}/match`, { contact_id: own.contact_id }),
    'team: discard what they hold': team(`/held_outcomes/${held_id}/discard`, {}),
    'team: reverse': team(`/outcomes/${outcome_id}/reverse`, {}),
    'team: consent': team(`/people/${contact_id}/consent`, {
      entries: [{ purpose: 'service', channel: 'phone', state: 'granted' }],
      method: 'by phone',
    }),
    'team: erase': team(`/people/${contact_id}/erasure`, {}),
    'team: lead': service.send('GET', `${service.admin}/leads/${contact_id}`),
    'team: ingest': service.send('GET', `${service.admin}/ingests/${ingest_id}`),
    'team: content': service.send('GET', `${service.admin}/ingest_contents/${ingest_id}`),
  }
  const answers = Object.entries(asked).map(async ([name, answer]) => {
    const { status, body } = await answer
    return [name, status, body.error?.code] as const
  })
  expect(await Promise.all(answers)).toEqual(Object.keys(asked).map((name) => [name, 404, 'not_found']))

  const held = (ownHeld.body.data as { readonly id: string }).id
  const matched = await team(`/held_outcomes/${held}/match`, { contact_id })
  expect([matched.status, Object.keys(matched.body.error?.fields ?? {})]).toEqual([422, ['contact_id']])

  const named = await service.process({ identity: { contact_id, email: 'cleo@example.com' } })
  expect(named.contact_id).not.toBe(contact_id)
  for (const path of [`/api/v1/crm/events?contact_id=${contact_id}`, `/api/v1/crm/outcomes?contact_id=${contact_id}`])
    expect((await ask(path, outcomes.token)).body.data).toEqual([])
  const feed = await ask('/api/v1/crm/leads?limit=200', strangers.client.token)
  expect(feed.body.data).toMatchObject([{ contact_id, status: 'open' }])
  const outcomesOfTheirs = await ask('/api/v1/crm/outcomes', strangers.client.token)
  expect(outcomesOfTheirs.body.data).toMatchObject([{ id: outcome_id, reversed: false }])
})
