import { expect, test } from 'vitest'
import { TriggerEventType, LeadTriggerType } from '#domain/workflows/events.ts'
import { newId } from '#infra/ids.ts'
import { lifecycleSubjects } from '../../delivery-worker/capabilities.ts'
import { kindOf } from '../../delivery-worker/capability.ts'
import { lifecycleTriggers } from '../../command-api/outreach/when-lifecycle-happened-join-streams.ts'
import { samples } from '../stored-events/samples.ts'
import { openFirm } from './firm.ts'

const ofPeople = lifecycleSubjects.filter(({ type }) => type !== 'webhook')

test('every lifecycle event of a person is a trigger, under the name that webhooks are sent with', () => {
  const sent = samples.flatMap(({ event }) => {
    const kind = kindOf(ofPeople, event)
    if (!kind) return []
    // What earlier events would have told does not decide the name.
    const facts = kind.remember(undefined, event) ?? {}
    return [[event.type, kind.happening(facts, event)?.type] as const]
  })
  expect(sent.length).toBeGreaterThan(40)
  for (const [type, name] of sent) expect([type, { ...lifecycleTriggers }[type as 'QuoteIssued']]).toEqual([type, name])
})

test('every lifecycle trigger with a person can have people join', () => {
  const withPerson = TriggerEventType.options.filter(
    (type) => !LeadTriggerType.safeParse(type).success && !type.startsWith('webhook.'),
  )
  expect(new Set(Object.values(lifecycleTriggers))).toEqual(new Set(withPerson))
})

test(
  'a lead joins the stream of a workflow when its own policy is bound, or it complains; who is no lead does not',
  { timeout: 120_000 },
  async () => {
    await using firm = await openFirm()
    const [bound] = samples.filter(({ event }) => event.type === 'PolicyBound').slice(-1)
    if (!bound) throw new Error('There is no sample of PolicyBound.')
    const triggers = {
      bound: 'policy.bound',
      lapsed: 'policy.lapsed',
      learnt: 'lead.facts_recorded',
      complained: 'complaint.opened',
    }
    const streams: Record<string, string> = {}
    for (const [slug, event_type] of Object.entries(triggers)) {
      streams[slug] = await firm.stream({ slug })
      const body = { name: slug, trigger: { event_type }, actions: [{ kind: 'outreach_stream', stream: slug }] }
      expect(await firm.service.send('POST', `${firm.admin}/workflows`, { body })).toMatchObject({ status: 201 })
    }
    const contact = await firm.lead({ declared: { smoker: true } })
    const stranger = newId()

    for (const customer_id of [stranger, contact]) {
      const { data, metadata, ...event } = bound.event
      const policy_id = newId()
      await firm.service.parts.eventLog.append(`policy-${policy_id}`, 'no_stream', [
        {
          ...event,
          id: newId(),
          data: { ...data, policy_id, customer_id, customer: { ...Object(data['customer']), id: customer_id } },
          metadata: { ...metadata, organisation_id: firm.id, occurred_at: new Date().toISOString() },
        },
      ])
    }

    const complaint = { contact_id: contact, cause: 'other', description: 'Too many calls.' }
    expect(await firm.service.send('POST', `${firm.admin}/complaints`, { body: complaint })).toMatchObject({
      status: 201,
    })

    const joined = async (slug: string) => (await firm.members(streams[slug] ?? '')).map(({ contact_id }) => contact_id)
    for (const slug of ['bound', 'learnt', 'complained'])
      await firm.until(`the lead is in ${slug}`, async () => ((await joined(slug)).length > 0 ? true : undefined))
    expect(await Promise.all(Object.keys(triggers).map(joined))).toEqual([[contact], [], [contact], [contact]])
  },
)
