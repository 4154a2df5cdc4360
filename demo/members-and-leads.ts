import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'

/** The journey once a policy is sold: its loyalty membership, and a letter to leads. */

type Step = <Result>(what: string, work: () => Promise<readonly [result: Result, shown: string]>) => Promise<Result>
type Send = <Schema extends z.ZodType>(
  schema: Schema,
  method: string,
  path: string,
  body?: object,
) => Promise<z.output<Schema>>

type Journey = {
  readonly step: Step
  /** As an API application, and as the operator. */
  readonly send: Send
  readonly operate: Send
  readonly organisation_id: string
}

/** Looks once a second, for half a minute, until something has come about. */
const until = async <Found>(what: string | (() => string), look: () => Promise<Found | undefined>): Promise<Found> => {
  for (let seconds = 0; seconds < 30; seconds++) {
    const found = await look()
    if (found !== undefined) return found
    await pause(1_000)
  }
  throw new Error(`${typeof what === 'string' ? what : what()} within half a minute.`)
}

const Membership = z.object({
  id: z.uuid(),
  status: z.string(),
  current_tier_key: z.string().nullable(),
  cycle_points: z.int(),
  cycle_started_on: z.string().nullable(),
  cycle_ends_on: z.string().nullable(),
})
const OneMembership = z.object({ data: Membership })
const Recorded = z.object({
  data: z.object({ events: z.array(z.object({ replayed: z.boolean() })), membership: Membership }),
})

/** The partner confirms the member that a policy has made, and sends points and a tier, twice. */
export const playMembership = async ({ step, send, operate, organisation_id }: Journey, policy_number: string) => {
  const { id } = await step('find the member of the programme', async () => {
    const path = `/admin/v1/organisations/${organisation_id}/memberships?policy_number=${policy_number}`
    const Page = z.object({ data: z.array(Membership) })
    const found = await until('The policy made no member', async () => (await operate(Page, 'GET', path)).data[0])
    return [found, `${found.id}, ${found.status}`]
  })
  const reference = `member-${Date.now()}`
  const address = `/api/v1/programme_memberships/${reference}`

  await step('confirm the membership', async () => {
    const body = { status: 'active', external_member_ref: reference }
    const { data } = await send(OneMembership, 'PATCH', `/api/v1/programme_memberships/${id}`, body)
    return [undefined, `${data.status}, cycle from ${data.cycle_started_on} to ${data.cycle_ends_on}`]
  })

  await step('send points and a tier, twice', async () => {
    const events = [
      { idempotency_key: 'walks', entry_type: 'points_awarded', points: 2_600 },
      { idempotency_key: 'mistake', entry_type: 'points_adjusted', points: -100 },
      { idempotency_key: 'tier', entry_type: 'tier_asserted', tier_key: 'silver' },
    ]
    await send(Recorded, 'POST', `${address}/events`, { events })
    const { data } = await send(Recorded, 'POST', `${address}/events`, { events })
    if (!data.events.every(({ replayed }) => replayed)) throw new Error('A repeated event was recorded again.')
    return [undefined, `${data.events.length} events, recorded once`]
  })

  await step('read the membership', async () => {
    const { data } = await send(OneMembership, 'GET', address)
    if (data.cycle_points !== 2_500) throw new Error(`There are ${data.cycle_points} points; there must be 2500.`)
    return [undefined, `${data.cycle_points} points this cycle, tier ${data.current_tier_key}`]
  })
}

const Ingest = z.object({ data: z.object({ id: z.uuid(), status: z.string(), contact_id: z.uuid().nullish() }) })
const Stream = z.object({
  data: z.object({
    id: z.uuid(),
    rows_count: z.int(),
    skipped_count: z.int(),
    sent_count: z.int(),
    outcomes: z.object({ replied: z.int(), booked: z.int() }),
    total_cost_pence: z.int(),
  }),
})
const Created = z.object({ data: z.object({ id: z.uuid() }) })
const Passed = z.object({ messages: z.array(z.object({ to: z.string(), unsubscribe_url: z.string() })) })
const Lead = z.object({ data: z.object({ consent: z.array(z.object({ channel: z.string(), state: z.string() })) }) })

/** A letter is drafted for leads and sent to those who agreed; one replies, one books, one unsubscribes. */
export const playOutreach = async (
  { step, send, operate, organisation_id }: Journey,
  { gateway, baseUrl }: { readonly gateway: string; readonly baseUrl: string },
) => {
  const admin = `/admin/v1/organisations/${organisation_id}`
  const run = String(Date.now())

  const stream = await step('create an outreach stream', async () => {
    const { data } = await operate(Created, 'POST', `${admin}/outreach_streams`, {
      slug: `letter-${run}`,
      kind: 'mailshot',
      name: 'A letter of the journey',
      purpose: 'first_party_marketing',
      goal: 'bookings',
      message_mode: 'drafted',
      auto_send: true,
      cost_ceiling_pence: 100,
      texts: [{ subject: 'Your cover', body: 'Shall we look at your cover together?' }],
    })
    await operate(Created, 'POST', `${admin}/outreach_streams/${data.id}/acts`, { act: 'start' })
    return [data.id, data.id]
  })
  const read = async () => (await send(Stream, 'GET', `/api/v1/outreach/streams/${stream}`)).data

  /** The gateway finds who replies by the name of the address. */
  const lead = async (name: string, isAgreed: boolean): Promise<string> => {
    const { data } = await send(Ingest, 'POST', '/api/v1/crm/ingests', {
      source: 'journey',
      identity: { first_name: 'Ada', last_name: 'Lane', email: `${name}@${run}.example.com`, match_on_details: true },
      ...(isAgreed && { consent: { method: 'a form', first_party_marketing: { email: true } } }),
    })
    const applied = await until(`The lead ${name} was not applied`, async () => {
      const { data: now } = await send(Ingest, 'GET', `/api/v1/crm/ingests/${data.id}`)
      return now.status === 'applied' ? now : undefined
    })
    return applied.contact_id ?? ''
  }

  const [, booker, leaver] = await step('have leads join it', async () => {
    const people = await Promise.all([
      lead('keen', true),
      lead('booker', true),
      lead('leaver', true),
      lead('not-asked', false),
    ])
    const Joined = z.object({ data: z.array(z.object({ state: z.string() })) })
    const body = { people: people.map((contact_id) => ({ contact_id })) }
    const { data } = await operate(Joined, 'POST', `${admin}/outreach_streams/${stream}/members`, body)
    return [people, data.map(({ state }) => state).join(', ')]
  })

  await step('draft and send the messages', async () => {
    const shown = await until('Three messages were not sent', async () => {
      const now = await read()
      return now.sent_count >= 3 ? now : undefined
    })
    return [undefined, `${shown.sent_count} sent, their drafts cost ${shown.total_cost_pence}p`]
  })

  await step('unsubscribe by the link of a message', async () => {
    const answer = await fetch(`${gateway}/stand-in/messages`)
    const { messages } = Passed.parse(await answer.json())
    const link = messages.find(({ to }) => to === `leaver@${run}.example.com`)?.unsubscribe_url
    if (!link) throw new Error('The gateway has passed on no such message.')
    const { pathname, search } = new URL(link)
    const done = await fetch(`${baseUrl}${pathname}${search}`, { method: 'POST' })
    if (!done.ok) throw new Error(`The link was answered ${done.status}.`)
    const { data } = await operate(Lead, 'GET', `${admin}/leads/${leaver}`)
    const email = data.consent.find(({ channel }) => channel === 'email')
    if (email?.state !== 'withdrawn') throw new Error('Consent was not withdrawn.')
    return [undefined, `consent for email is ${email.state}`]
  })

  await step('count a reply and a booking', async () => {
    await operate(z.unknown(), 'POST', `${admin}/leads/${booker}/acts`, {
      acts: [{ act: 'record_activity', kind: 'booking', summary: 'Booked a call', direction: 'inbound' }],
    })
    let counted: object = {}
    const shown = await until(
      () => `A reply and a booking were not counted, but ${JSON.stringify(counted)},`,
      async () => {
        const now = await read()
        counted = now.outcomes
        return now.outcomes.replied === 1 && now.outcomes.booked === 1 ? now : undefined
      },
    )
    const { rows_count, skipped_count, sent_count, outcomes } = shown
    const people = `${rows_count} people, ${skipped_count} without consent, ${sent_count} messages`
    return [undefined, `${people}: ${outcomes.replied} replied, ${outcomes.booked} booked`]
  })
}
