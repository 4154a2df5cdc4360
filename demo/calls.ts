import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'

/** Sends a request to the service, with a token of an API application or the key of the operator. */
export type Send = (
  method: string,
  path: string,
  request: { readonly token: string; readonly body?: object; readonly headers?: Readonly<Record<string, string>> },
) => Promise<{ readonly status: number; readonly body: unknown }>

/** A firm whose leads come from its website, from a partner and from a file. */
export type CallCentre = {
  readonly send: Send
  readonly organisation_id: string
  /** Tokens with the scopes read, write, crm and outcomes. */
  readonly website: string
  readonly partner: string
  readonly operator: string
}

/** The sections of the set-up file that the day needs, beside the name of the firm. */
export const callCentreSections = `
    campaigns:
      - key: autumn
        name: Autumn
        rules: [{ rule: required, field: phone }, { rule: postcode_range, field: postal_code, excluded: [BT] }]
      - { key: summer, name: Summer, state: paused }
    trap_fields: [website_url]
    team_members: [{ full_name: Olive Owner, email: olive@example.org }]
    outcome_products: [{ key: term, name: Term }]
`

const Id = z.object({ data: z.object({ id: z.string() }) })
const IngestPage = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      status: z.string(),
      source: z.string(),
      source_reference: z.string().nullable(),
      contact_id: z.string().nullable(),
      review: z.object({ candidates: z.array(z.string()) }).nullable(),
    }),
  ),
  next_cursor: z.string().nullable(),
})
type Ingest = z.output<typeof IngestPage>['data'][number]
const Rows = z.object({ data: z.array(z.record(z.string(), z.unknown())), next_cursor: z.string().nullable() })

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index)

/** Does so many things at once, in their order. */
const each = async <Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>): Promise<Result[]> => {
  const results: Result[] = []
  const entries = items.entries()
  const worker = async () => {
    for (const [index, item] of entries) results[index] = await work(item)
  }
  await Promise.all(upTo(8).map(worker))
  return results
}

const emailOf = (person: string) => `${person}@example.com`
const phoneOf = (number: number) => `07700 9${String(10_000 + number)}`
const nameOf = (person: string) => ({ first_name: `A${person.replaceAll(/\d/g, letter)}`, last_name: 'Caller' })
const letter = (digit: string) => String.fromCodePoint(97 + Number(digit))

/**
 * A scripted day: 500 leads from three sources, with repeats, bad rows, a paused campaign and people whom nobody can tell
 * apart; then the team works them and reports outcomes, some of which are reversed. Answers what there is in the evening.
 */
export const callCentreDay = async ({ send, organisation_id, website, partner, operator }: CallCentre) => {
  const admin = `/admin/v1/organisations/${organisation_id}`
  const act = async (method: string, path: string, body?: object) => {
    const answer = await send(method, `${admin}${path}`, { token: operator, ...(body && { body }) })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const answers: Record<number, number> = {}
  const post = async (token: string, lead: object, key?: string) => {
    const headers = key === undefined ? {} : { 'Idempotency-Key': key }
    const { status } = await send('POST', '/api/v1/crm/ingests', { token, body: lead, headers })
    answers[status] = (answers[status] ?? 0) + 1
  }
  const upload = async (name: string, rows: readonly Readonly<Record<string, string>>[]) =>
    act('POST', '/uploaded_leads', {
      upload: name,
      campaign: 'autumn',
      rows: rows.map((fields, index) => ({ line: index + 2, fields })),
    })

  const pages = async <Item>(path: string, schema: z.ZodType<{ data: Item[]; next_cursor: string | null }>) => {
    const items: Item[] = []
    for (let cursor: string | null = null; ;) {
      const at: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const page = schema.parse(await act('GET', `${path}limit=200${at}`))
      items.push(...page.data)
      if (page.data.length < 200 || page.next_cursor === null) return items
      cursor = page.next_cursor
    }
  }
  const ingests = async (): Promise<Ingest[]> => pages('/ingests?', IngestPage)
  /** Waits until nothing that was sent is under way any more. */
  const settled = async (count: number): Promise<Ingest[]> => {
    for (let attempt = 0; attempt < 600; attempt++) {
      const all = await ingests()
      const isDone = all.every(({ status }) => !['received', 'resolving', 'extracting', 'deferred'].includes(status))
      if (all.length === count && isDone) return all
      await pause(200)
    }
    throw new Error('The leads were not processed within two minutes.')
  }

  // In the morning people arrive whom nobody knows: 150, 170 and 80.
  const person = (source: string, index: number, number: number) => ({
    email: emailOf(`${source}${index}`),
    phone: phoneOf(number),
    ...nameOf(`${source}${index}`),
  })
  const ofWebsite = (index: number) => person('w', index, index)
  const ofPartner = (index: number) => person('p', index, 200 + index)
  const sent = (source: string, reference: string, content: object) => ({
    source,
    source_reference: reference,
    campaign: 'autumn',
    ...content,
  })
  await Promise.all([
    each(upTo(150), async (n) => post(website, sent('website', `w${n}`, { identity: ofWebsite(n) }), `w${n}`)),
    each(upTo(170), async (n) => post(partner, sent('partner', `p${n}`, { identity: ofPartner(n) }))),
    upload(
      'morning',
      upTo(80).map((n) => person('u', n, 400 + n)),
    ),
  ])
  await settled(400)

  // At noon come those who are known, who cannot be told apart, or whose leads are no good: ten of each kind.
  const ten = upTo(10)
  await Promise.all([
    each(ten, async (n) => post(website, sent('website', `w${n}`, { identity: ofWebsite(n) }), `w${n}`)),
    each(ten, async (n) =>
      post(website, sent('website', `without-phone-${n}`, { identity: { email: emailOf(`bad${n}`) } })),
    ),
    each(ten, async (n) => post(website, { ...sent('website', `paused-${n}`, { text: 'Hello' }), campaign: 'summer' })),
    each(ten, async (n) =>
      post(website, { source: 'website', source_reference: `nobody-${n}`, data: { wish: `A call about ${n}` } }),
    ),
    each(ten, async (n) => post(website, sent('website', `back-${n}`, { identity: ofWebsite(20 + n) }))),
    each(ten, async (n) => post(partner, sent('partner', `shared-${n}`, { identity: ofWebsite(40 + n) }))),
    each(ten, async (n) =>
      post(
        partner,
        sent('partner', `same-phone-${n}`, { identity: { ...ofWebsite(60 + n), email: emailOf(`x${n}`) } }),
      ),
    ),
    each(ten, async (n) =>
      post(
        partner,
        sent('partner', `spam-${n}`, { identity: ofPartner(n), data: { website_url: 'http://spam.test' } }),
      ),
    ),
    upload('noon', [
      ...ten.map((n) => ({ ...person('excluded', n, 600 + n), postcode: 'BT1 5GS' })),
      ...ten.map((n) => ofPartner(n)),
    ]),
  ])
  const noon = await settled(480)

  // The team decides on what is held and on who is meant.
  const of = (status: string, beginning: string) =>
    noon.filter((each_) => each_.status === status && (each_.source_reference ?? '').startsWith(beginning))
  const inHalves = async (found: readonly Ingest[], first: (one: Ingest) => Promise<unknown>, second: typeof first) =>
    each(found, async (one) => (found.indexOf(one) % 2 === 0 ? first(one) : second(one)))
  const judge = (what: string, body: (one: Ingest) => object) => async (one: Ingest) =>
    act('POST', `/ingests/${one.id}/${what}`, body(one))
  const accept = judge('accept', () => ({}))
  const discard = judge('discard', () => ({ note: 'Nobody could be reached.' }))
  const somebodyNew = judge('pick_person', () => ({ contact_id: null }))
  await inHalves(of('held', 'without-phone'), accept, discard)
  await inHalves(of('held', 'line'), accept, discard)
  await inHalves(of('needs_review', 'nobody'), somebodyNew, discard)
  await inHalves(
    of('needs_review', 'same-phone'),
    judge('pick_person', ({ review }) => ({ contact_id: review?.candidates[0] ?? null })),
    somebodyNew,
  )
  const decided = await settled(480)

  // In the afternoon it calls the first hundred of the website, and closes some.
  const contactOf = new Map(decided.map(({ source_reference, contact_id }) => [source_reference, contact_id]))
  const lead = (n: number) => contactOf.get(`w${n}`) ?? ''
  await each(upTo(100), async (n) =>
    act('POST', `/leads/${lead(n)}/acts`, {
      by: 'Olive Owner',
      acts: [
        { act: 'record_activity', kind: 'call', direction: 'outbound', summary: 'Called.' },
        ...(n < 60 || n >= 80 ? [] : [{ act: 'change_status', status: 'not_interested', reason: 'has cover' }]),
        ...(n >= 80 ? [{ act: 'add_task', title: 'Call again' }] : []),
      ],
    }),
  )

  // The website reports what became of them.
  const report = async (n: number, type: string, more: object = {}) => {
    const body = { contact_id: lead(n), type, occurred_at: new Date().toISOString(), event_id: `${type}-${n}`, ...more }
    const answer = await send('POST', '/api/v1/crm/outcomes', { token: website, body })
    if (answer.status !== 201) throw new Error(`outcome: ${answer.status} ${JSON.stringify(answer.body)}`)
    return Id.parse(answer.body).data.id
  }
  const sale = (n: number) => ({ deal_ref: `D-${n}`, product: 'term' })
  const quoted = await each(upTo(60), async (n) => report(n, 'quoted', { values: { premium: 1_500 + n } }))
  const sold = await each(upTo(40), async (n) =>
    report(n, 'sold', { ...sale(n), values: { premium: 1_500, commission: 9_000 } }),
  )
  await each(ten, async (n) => report(n, 'cancelled', { deal_ref: `D-${n}`, reason: 'cooling_off' }))
  await each(ten, async (n) => report(40 + n, 'lost', { reason: 'price' }))
  const mistaken = [...quoted.slice(50, 55), ...sold.slice(30, 35)]
  await each(mistaken, async (id) =>
    send('POST', `/api/v1/crm/outcomes/${id}/reverse`, { token: website, body: { note: 'Reported by mistake.' } }),
  )
  return evening({ answers, pages, send, website, partner, settled })
}

type Evening = {
  readonly answers: Readonly<Record<number, number>>
  readonly pages: <Item>(
    path: string,
    schema: z.ZodType<{ data: Item[]; next_cursor: string | null }>,
  ) => Promise<Item[]>
  readonly send: Send
  readonly website: string
  readonly partner: string
  readonly settled: (count: number) => Promise<readonly Ingest[]>
}

const counted = (values: readonly unknown[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const value of values) counts[String(value)] = (counts[String(value)] ?? 0) + 1
  return counts
}

const Shown = z.object({ shown: z.object({ status: z.string() }), tasks: z.array(z.unknown()) })

/** The state when everything has followed. */
const evening = async ({ answers, pages, send, website, partner, settled }: Evening) => {
  // Leads follow their outcomes a moment later: their timelines tell of every one. Only then does nothing change any more.
  for (let attempt = 0; attempt < 300; attempt++) {
    const events = (await pages('/lead_events?', Rows)).map((row) => String(row['event_type']))
    const outcomes = await pages('/outcomes?', Rows)
    const told = events.filter((type) => type.startsWith('activity.outcome')).length
    if (told < outcomes.length) {
      await pause(200)
      continue
    }
    const leads = (await pages('/leads?', Rows)).map((row) => Shown.parse(row))
    return {
      answers,
      ingests: counted((await settled(480)).map(({ status }) => status)),
      leads: counted(leads.map(({ shown }) => shown.status)),
      tasks: leads.flatMap(({ tasks }) => tasks).length,
      sentByWebsite: await feedOf(send, website),
      sentByPartner: await feedOf(send, partner),
      outcomes: counted(outcomes.map(({ type, reversal_of }) => (reversal_of === null ? type : 'reversal'))),
      arrivals: counted(events.filter((type) => type === 'lead.created' || type === 'activity.form')),
      calls: events.filter((type) => type === 'activity.call').length,
      told,
    }
  }
  throw new Error('The leads did not follow their outcomes within a minute.')
}

/** The number of leads that an application sees in its feed. */
const feedOf = async (send: Send, token: string): Promise<number> => {
  const seen = new Set<unknown>()
  for (let cursor: string | null = null; ;) {
    const at: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const { body } = await send('GET', `/api/v1/crm/leads?limit=200${at}`, { token })
    const page = Rows.parse(body)
    for (const { contact_id } of page.data) seen.add(contact_id)
    if (page.data.length < 200) return seen.size
    cursor = page.next_cursor
  }
}

/** The state that must be there in the evening, whatever happened at the same time. */
export const expectedEvening = {
  // 380 over the API were taken, ten of them once more for the same lead; ten came for a paused campaign.
  answers: { 202: 390, 409: 10 },
  ingests: { applied: 455, discarded: 25 },
  leads: { open: 350, won: 30, lost: 20, not_interested: 20 },
  tasks: 25,
  sentByWebsite: 160,
  sentByPartner: 190,
  outcomes: { quoted: 60, sold: 40, cancelled: 10, lost: 10, reversal: 10 },
  arrivals: { 'lead.created': 420, 'activity.form': 35 },
  calls: 100,
  told: 130,
}
