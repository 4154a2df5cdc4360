import { isDeepStrictEqual } from 'node:util'
import type { RecordedEvent } from '#domain/event.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import type { Leases } from '#infra/consumers/lease.ts'
import type { Pool } from 'pg'
import { z } from 'zod'
import type { Receiver } from '../../demo/receiver.ts'
import { compareWithRebuild } from '../../projections/compare.ts'
import { allProjections } from '../../projections/all-projections.ts'
import type { Caller, Journey } from './load.ts'

/** Each finds what is wrong, in sentences. */

export const readWholeLog = async (log: EventLog): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = []
  for (;;) {
    const beyond = events.at(-1)?.position
    const page = await log.readAll({ limit: 1_000, ...(beyond && { beyond }) })
    if (page.length === 0) return events
    events.push(...page)
  }
}

/** Nothing lost and nothing doubled, as far as the log itself can tell. */
export const faultsOfLog = (events: readonly RecordedEvent[]): readonly string[] => {
  const faults: string[] = []
  const revisions = new Map<string, number>()
  const ids = new Set<string>()
  for (const { id, stream, revision } of events) {
    const expected = (revisions.get(stream) ?? -1) + 1
    if (revision !== expected) faults.push(`${stream} has revision ${revision} where ${expected} should be`)
    if (ids.has(id)) faults.push(`${stream} repeats event ${id}`)
    revisions.set(stream, revision)
    ids.add(id)
  }
  return faults
}

const onceInEveryJourney = [
  'ApplicationStarted',
  'AnswersSaved',
  'CoverSaved',
  'CustomerSaved',
  'QuoteIssued',
  'QuoteAccepted',
]

/** Every write that was answered is in the log, once, however often it was sent. */
export const faultsOfJourneys = (journeys: readonly Journey[], events: readonly RecordedEvent[]): readonly string[] => {
  const byStream = Map.groupBy(events, ({ stream }) => stream)
  const starts = Map.groupBy(
    events.filter(({ type }) => type === 'ApplicationStarted'),
    ({ data }) => data['idempotency_key'],
  )
  return journeys.flatMap(({ key, application, quote }) => {
    const faults: string[] = []
    const made = starts.get(key)?.length ?? 0
    if (made !== 1) faults.push(`${key} made ${made} applications`)
    const own = byStream.get(`application-${application?.id}`) ?? []
    for (const type of onceInEveryJourney) {
      const times = own.filter((event) => event.type === type).length
      if (times !== 1) faults.push(`the application of ${key} has ${times} × ${type}`)
    }
    for (const type of ['QuoteIssued', 'QuoteAccepted'])
      if (!own.some((event) => event.type === type && event.data['quote_id'] === quote?.id))
        faults.push(`quote ${quote?.id} of ${key} has no ${type}`)
    return faults
  })
}

const readersAtOnce = 16

/** What was answered last can be read, and is what was answered. */
export const faultsOfReading = async ({ send }: Caller, journeys: readonly Journey[]): Promise<readonly string[]> => {
  const faults: string[] = []
  const rest = journeys.values()
  const read = async () => {
    for (const { key, application, quote } of rest) {
      const shown = await send('GET', `/applications/${application?.id}`)
      if (!isDeepStrictEqual(shown, application))
        faults.push(`${key} is shown as ${JSON.stringify(shown)}, and was answered as ${JSON.stringify(application)}`)
      const { accepted_at, ...priced } = await send('GET', `/quotes/${quote?.id}`)
      if (!accepted_at || !isDeepStrictEqual({ ...priced, accepted_at: quote?.['accepted_at'] }, quote))
        faults.push(`the quote of ${key} is shown as ${JSON.stringify({ ...priced, accepted_at })}`)
    }
  }
  await Promise.all(Array.from({ length: readersAtOnce }, read))
  return faults
}

/** Which webhooks the events of the log lead to, and how many actions ask for each. */
export type Asked = Readonly<Record<string, { readonly type: string; readonly actions: number }>>

export const expectedWebhooks = (events: readonly RecordedEvent[], asked: Asked): number =>
  events.reduce((sum, { type }) => sum + (asked[type]?.actions ?? 0), 0)

/** Every webhook came, each event and action under one Idempotency-Key, and none came that nobody asked for. */
export const faultsOfWebhooks = (
  { requests }: Pick<Receiver, 'requests'>,
  events: readonly RecordedEvent[],
  asked: Asked,
): readonly string[] => {
  const faults = requests.flatMap(({ refused }) => (refused === undefined ? [] : [`a webhook was refused: ${refused}`]))
  const keys = new Map<string, Set<string>>()
  const eventsOfKey = new Map<string, string>()
  for (const { idempotency_key, raw_body, refused } of requests) {
    if (refused !== undefined) continue
    const { id, type } = JSON.parse(raw_body) as { id: string; type: string } // its signature says who made it
    keys.set(`${type} ${id}`, (keys.get(`${type} ${id}`) ?? new Set()).add(idempotency_key))
    const other = eventsOfKey.get(idempotency_key) ?? id
    if (other !== id) faults.push(`Idempotency-Key ${idempotency_key} came for events ${other} and ${id}`)
    eventsOfKey.set(idempotency_key, id)
  }
  for (const { id, type } of events) {
    const expected = asked[type]
    if (!expected) continue
    const name = `${expected.type} ${id}`
    const came = keys.get(name)?.size ?? 0
    if (came !== expected.actions) faults.push(`${name} came under ${came} keys, for ${expected.actions} actions`)
    keys.delete(name)
  }
  for (const name of keys.keys()) faults.push(`${name} came, which nobody asked for`)
  return faults
}

type Reading = { readonly pool: Pool; readonly eventLog: EventLog; readonly leases: Leases }

/** What the read models show is what they would show if they were made again from the first event. */
export const faultsOfProjections = async (reading: Reading): Promise<readonly string[]> => {
  const faults: string[] = []
  for (const projection of allProjections) {
    const { different, differences } = await compareWithRebuild(projection, {
      ...reading,
      signal: AbortSignal.timeout(120_000),
    })
    if (different > 0)
      faults.push(`${different} rows of ${projection.name} differ from a rebuild: ${JSON.stringify(differences[0])}`)
  }
  return faults
}

/** Every customer's record holds what was saved of them last, in the order of the log. */
export const faultsOfCustomers = async (pool: Pool, events: readonly RecordedEvent[]): Promise<readonly string[]> => {
  const last = new Map<string, string | null>()
  for (const { type, data } of events)
    if (type === 'CustomerSaved') last.set(String(data['customer_id']), phoneOf(data['customer']))
  const { rows } = await pool.query<{ id: string; document: unknown }>('select id, document from customers')
  const held = new Map(rows.map(({ id, document }) => [id, phoneOf(document)]))
  return [...last].flatMap(([id, phone]) =>
    held.get(id) === phone ? [] : [`customer ${id} has the phone number ${String(held.get(id))}, saved last: ${phone}`],
  )
}

const phoneOf = (details: unknown): string | null =>
  z.object({ phone_number: z.string().nullable() }).parse(details).phone_number
