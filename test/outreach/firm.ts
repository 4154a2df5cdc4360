import { setTimeout as pause } from 'node:timers/promises'
import { wholeService } from '../whole-service.ts'

export type Shown = Readonly<Record<string, unknown>> & { readonly id: string }
export type Sent = {
  readonly id: string
  readonly contact_id: string
  readonly channel: string
  readonly sent_at: string
  readonly asked: number
  readonly content: { readonly to: string; readonly subject: string | null; readonly text: string }
}

const declared = `
organisations:
  - slug: firm
    name: A firm
    time_zone: Europe/London
    outreach: [{ on: true, exchange_rates: [{ day: 2026-01-01, usd_rate: '0.8' }] }]
`

export const text = { subject: 'Hello {{first_name}}', body: 'Hello {{first_name}}, a word from us.' }
export const mailshot = {
  kind: 'mailshot',
  name: 'A letter',
  purpose: 'first_party_marketing',
  auto_send: true,
  texts: [text],
}

const patienceMs = 30_000

/** A firm with outreach switched on, its leads, streams and outbox, through the whole service. */
export const openFirm = async (environment: Readonly<Record<string, string>> = {}) => {
  const service = await wholeService(environment)
  await service.setUp(declared)
  const organisations = await service.send<readonly { id: string }[]>('GET', '/admin/v1/organisations')
  const id = String(organisations.body.data[0]?.id)
  const client = await service.client(id, ['read', 'write', 'crm'])
  const admin = `/admin/v1/organisations/${id}`
  let made = 0

  const until = async <Found>(
    what: string,
    find: () => Promise<Found | undefined>,
    withinMs = patienceMs,
  ): Promise<Found> => {
    const deadline = Date.now() + withinMs
    for (;;) {
      const found = await find()
      if (found !== undefined) return found
      if (Date.now() > deadline) throw new Error(`It did not come about: ${what}.`)
      await pause(20)
    }
  }

  const pagesOf = async <Item>(path: string): Promise<readonly Item[]> => {
    const items: Item[] = []
    for (let cursor: string | null | undefined; cursor !== null;) {
      const { body } = await service.send<readonly Item[]>(
        'GET',
        `${admin}/${path}${path.includes('?') ? '&' : '?'}limit=200${cursor ? `&cursor=${cursor}` : ''}`,
      )
      items.push(...body.data)
      cursor = body.next_cursor ?? null
    }
    return items
  }

  /** Somebody becomes a lead by a form, with these consents. */
  const lead = async (
    { consents = { email: true }, ...sent }: { consents?: object | null; declared?: object; campaign?: string } = {},
    name = `person${++made}`,
    first_name = name,
  ): Promise<string> => {
    const identity = {
      email: `${name}@example.com`,
      first_name,
      last_name: 'Finch',
      phone: `+4474001${String(10_000 + ++made)}`,
    }
    const consent = consents && { method: 'a form', first_party_marketing: consents }
    const { status, body } = await service.send<{ id: string }>('POST', '/api/v1/crm/ingests', {
      token: client.token,
      body: { source: 'form', identity: { ...identity, match_on_details: true }, ...(consent && { consent }), ...sent },
    })
    if (status !== 202 && status !== 201) throw new Error(JSON.stringify(body))
    const ingest = await until('the lead is there', async () => {
      const read = await service.send<{ status: string; contact_id: string | null }>(
        'GET',
        `/api/v1/crm/ingests/${body.data.id}`,
        { token: client.token },
      )
      return read.body.data.status === 'applied' ? read.body.data : undefined
    })
    return String(ingest.contact_id)
  }

  const stream = async (changes: object = {}): Promise<string> => {
    const body = { slug: `stream-${++made}`, ...mailshot, ...changes }
    const created = await service.send<Shown>('POST', `${admin}/outreach_streams`, { body })
    if (created.status !== 201) throw new Error(JSON.stringify(created.body))
    const stream_id = created.body.data.id
    await act(stream_id, 'start')
    return stream_id
  }

  const act = async (stream_id: string, name: string) =>
    service.send<Shown>('POST', `${admin}/outreach_streams/${stream_id}/acts`, { body: { act: name } })

  const read = async (stream_id: string) =>
    (await service.send<Shown>('GET', `/api/v1/outreach/streams/${stream_id}`, { token: client.token })).body.data

  /** What the drafts of a stream cost, once all that its total counts is listed: another read model shows that. */
  const costs = async (stream_id: string) =>
    until('the costs are listed', async () => {
      const listed = await pagesOf<Shown>(`outreach_streams/${stream_id}/costs`)
      const microPence = listed.reduce((sum, { micro_pence }) => sum + Number(micro_pence), 0)
      return Math.round(microPence / 1_000_000) === (await read(stream_id))['total_cost_pence'] ? listed : undefined
    })

  return {
    service,
    id,
    client,
    admin,
    until,
    lead,
    stream,
    act,
    join: async (stream_id: string, ...people: readonly (string | { contact_id: string; columns: object })[]) => {
      const body = { people: people.map((each) => (typeof each === 'string' ? { contact_id: each } : each)) }
      const path = `${admin}/outreach_streams/${stream_id}/members`
      return service.send<readonly { contact_id: string; state: string }[]>('POST', path, { body })
    },
    read,
    messages: (stream_id: string, state = '') =>
      pagesOf<Shown & { contact_id: string; state: string }>(
        `outreach_streams/${stream_id}/messages${state && `?state=${state}`}`,
      ),
    members: (stream_id: string) => pagesOf<Shown>(`outreach_streams/${stream_id}/members`),
    costs,
    outbox: () => pagesOf<Sent>('outreach_outbox'),
    judge: (stream_id: string, contact_id: string, message_id: string, body: object) =>
      service.send('POST', `${admin}/outreach_streams/${stream_id}/members/${contact_id}/messages/${message_id}/acts`, {
        body,
      }),
    /** Business time goes forward. */
    forward: (seconds: number) => service.send('POST', '/admin/v1/clock', { body: { forward_seconds: seconds } }),
    page: async (url: string, method = 'GET', form?: Readonly<Record<string, string>>) => {
      const { pathname, search } = new URL(url)
      const response = await fetch(`${service.origin}${pathname}${search}`, {
        method,
        ...(form && { body: new URLSearchParams(form) }),
      })
      return { status: response.status, html: await response.text() }
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}
export type Firm = Awaited<ReturnType<typeof openFirm>>

export const linkIn = (sent: Sent | undefined, part: string): string =>
  sent?.content.text.split(/\s+/).find((word) => word.includes(part)) ?? ''
