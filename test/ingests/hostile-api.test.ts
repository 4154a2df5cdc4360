import { afterAll, beforeAll, expect, test } from 'vitest'
import { leadService, type LeadService } from './fixture.ts'

let service: LeadService
beforeAll(async () => {
  service = await leadService()
}, 60_000)
afterAll(() => service[Symbol.asyncDispose]())

/** Texts that nobody means well with. */
const hostile: readonly string[] = [
  'U+0000: \u0000 within',
  'half a pair: \ud800 and \udfff',
  'a backslash before it: \\u0000 \\ud800',
  `'; drop table leads; -- ") or 1=1`,
  '{{7*7}} ${7*7} <script>alert(1)</script> %00 %n',
  'line\r\nX-Evil: yes\r\n\r\nHTTP/1.1 200 OK',
  '\u202Ereversed \u0007 bell \u001b[31m',
  '__proto__',
  'a@'.repeat(20_000),
  `${'('.repeat(20_000)}07700 900123`,
  `${'1 '.repeat(20_000)}!`,
  `${'1/2/'.repeat(10_000)}x`,
]

const identities = ['email', 'phone', 'name', 'first_name', 'last_name', 'external_id', 'contact_id'] as const
const known = () => ({ email: `${crypto.randomUUID()}@example.com` })

/** Every field of a lead that takes a text. */
const fields: Readonly<Record<string, (text: string) => object>> = {
  source: (source) => ({ source, identity: known() }),
  campaign: (campaign) => ({ campaign, identity: known() }),
  text: (text) => ({ text, identity: known() }),
  data: (text) => ({ data: { wish: text, [text]: text, deep: [{ [text]: [text] }], phone: text, dob: text } }),
  declared: (text) => ({ declared: { wish: text, many: [text] }, identity: known() }),
  source_reference: (source_reference) => ({ source_reference, identity: known() }),
  occurred_at: (occurred_at) => ({ occurred_at, identity: known() }),
  consent: (text) => ({ identity: known(), consent: { method: text, wording: text, service: { phone: true } } }),
  context: (text) => ({ identity: known(), context: { source_url: text, referrer: text, utm_source: text } }),
  provenance: (text) => ({
    identity: known(),
    provenance: { page_url: text, page_title: text, utm: { [text]: text } },
  }),
  ...Object.fromEntries(
    identities.map((name) => [name, (text: string) => ({ identity: { ...known(), [name]: text } })]),
  ),
}

const lists = [
  '/api/v1/crm/leads',
  '/api/v1/crm/events',
  '/api/v1/crm/outcomes',
  'leads',
  'lead_events',
  'ingests',
  'outcomes',
  'held_outcomes',
  'proposed_details',
  'consent_history',
  'verification_history',
]

/** Reads every list to its end. */
const readAll = async () => {
  for (const list of lists) {
    const path = list.startsWith('/') ? list : `${service.admin}/${list}`
    const token = list.startsWith('/') ? { token: service.sender.token } : {}
    let cursor: string | null = null
    do {
      const at: string = cursor === null ? '' : `&cursor=${cursor}`
      const answer = await service.send<readonly unknown[]>('GET', `${path}?limit=200${at}`, token)
      expect([list, answer.status]).toEqual([list, 200])
      cursor = answer.body.data.length === 200 ? (answer.body.next_cursor ?? null) : null
    } while (cursor !== null)
  }
}

test('whatever a text of a lead holds, it is refused or processed, and all that is shown of leads can still be read', async () => {
  for (const [field, lead] of Object.entries(fields)) {
    const answers = await Promise.all(hostile.map(async (text) => service.post(lead(text))))
    for (const [index, { status, body, headers }] of answers.entries()) {
      expect([field, index, status === 202 || status === 422]).toEqual([field, index, true])
      expect(headers.has('x-evil')).toBe(false)
      if (status === 422) expect(body.error?.code).toMatch(/^(validation_failed|unknown_campaign)$/)
      else expect((await service.settled(body.data.id)).status).not.toBe('failed')
    }
  }
  await readAll()
}, 120_000)

test('whatever a text of an outcome holds, it is refused or recorded, and all outcomes can still be read', async () => {
  const { contact_id } = await service.process({ identity: known() })
  const outcome = { contact_id, type: 'cancelled', occurred_at: '2026-01-15' }
  const texts = ['type', 'occurred_at', 'event_id', 'deal_ref', 'product', 'reason', 'note', 'currency', 'contact_id']
  const token = { token: service.sender.token }
  for (const text of hostile) {
    const bodies = [
      ...texts.map((field) => ({ ...outcome, deal_ref: crypto.randomUUID(), [field]: text })),
      { ...outcome, deal_ref: crypto.randomUUID(), values: { [text]: 1, clawback: 1 } },
      ...['id', 'external_id', 'email', 'phone'].map((field) => ({
        type: 'cancelled',
        occurred_at: '2026-01-15',
        lead: { [field]: text, match_on_details: true },
      })),
    ]
    const answers = await Promise.all(
      bodies.map(async (body) => service.send('POST', '/api/v1/crm/outcomes', { ...token, body })),
    )
    for (const [index, { status, body }] of answers.entries())
      expect([text.slice(0, 30), index, status, [201, 202, 404, 422].includes(status), body.error?.code]).toEqual([
        text.slice(0, 30),
        index,
        status,
        true,
        status < 300 ? undefined : expect.stringMatching(/^(not_found|validation_failed)$/),
      ])
    const reversed = await service.send('POST', '/api/v1/crm/outcomes/reverse', { ...token, body: { event_id: text } })
    expect([200, 404, 422]).toContain(reversed.status)
  }
  await readAll()
}, 120_000)

test('what the team writes of a lead may hold anything, and the lead can still be read', async () => {
  const { contact_id } = await service.process({ identity: known() })
  for (const text of hostile.map((each) => each.slice(0, 100))) {
    const acts = [
      { act: 'record_activity', kind: 'note', summary: text },
      { act: 'add_task', title: text },
      { act: 'flag_vulnerability', flagged: true, details: text },
      { act: 'set_outcome_reason', reason: text, note: text },
      { act: 'record_facts', facts: { wish: text } },
      { act: 'mark', external_system_id: text },
    ]
    for (const act of acts) {
      const { status } = await service.send('POST', `${service.admin}/leads/${contact_id}/acts`, {
        body: { by: text, acts: [act] },
      })
      // A person who was sent in with that id may have it already.
      const usual = act.act === 'mark' ? [200, 409, 422] : [200, 422]
      expect([text, act.act, usual.includes(status)]).toEqual([text, act.act, true])
    }
    expect((await service.send('GET', `${service.admin}/leads/${contact_id}`)).status).toBe(200)
  }
  await readAll()
}, 120_000)
