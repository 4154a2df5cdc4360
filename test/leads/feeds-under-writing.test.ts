import { expect, test, vi } from 'vitest'
import type { LeadFeedEvent } from '#domain/lead-feed/record.ts'
import type { Position } from '#domain/event.ts'
import { pipelinesOf } from '#domain/pipeline/record.ts'
import { CustomerId } from '#domain/values.ts'
import { LogUnavailable, type EventLog } from '#infra/event-log/event-log.ts'
import { eventStoreDbLog } from '#infra/event-log/eventstoredb/eventstoredb-log.ts'
import { makeLeads } from '../../command-api/leads/live-leads.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import { leadFeed, leadRecords, leads } from '../../projections/leads/projection.ts'
import { runProjection } from '../../projections/runner.ts'
import { leadRoutes } from '../../query-api/leads/routes.ts'
import { startEventStoreDb } from '../eventstoredb/server.ts'
import { fixture } from '../projections/fixture.ts'
import { serve, serverCaller } from '../serve.ts'
import { organisation_id, partner, receive, user } from './builders.ts'

type Page<Item> = { readonly data: readonly Item[]; readonly next_cursor: string | null }
type Lead = { readonly contact_id: string; readonly updated_at: string }

const writers = 8
const leadsInAll = 12
// So many acts of each writer in the suite; FEED_SECONDS=60 lets all of them write for a whole minute over each log.
const actsOfAWriter = 30
const seconds = Number(process.env['FEED_SECONDS'] ?? 0)
const patience = { timeout: (seconds * 3 + 120) * 1_000 }

/** Writers change leads while one reader follows each feed from its beginning, page by page, until nothing more comes. */
const follow = async (of: Awaited<ReturnType<typeof fixture>>, log: EventLog) => {
  const { run, parts, progress, stop } = of.makeProcess('projections', log)
  for (const projection of [leads, leadFeed, leadRecords] as const) run(() => runProjection(projection, parts))
  const pipelines = pipelinesOf(new Map())
  const caller = serverCaller({ organisation_id, api_application_id: partner })
  await using api = await serve(leadRoutes({ pool: of.pool, pipelines }), caller)
  let head = '' as Position
  const seen = async (_stream: string, position: Position) => {
    if (position > head) head = position
  }
  const made = makeLeads(makeWriter({ log, seen }), pipelines)
  const ids = Array.from({ length: leadsInAll }, () => CustomerId.parse(crypto.randomUUID()))

  const isServed = async (feed: string) => (await api.get(`/api/v1/crm/${feed}`)).status === 200
  await vi.waitUntil(async () => (await isServed('leads')) && (await isServed('events')), {
    timeout: 60_000,
    interval: 20,
  })

  /** As whoever is answered 503 does: the same act once more, which counts once. */
  const untilStored = async (work: () => Promise<unknown>): Promise<void> => {
    for (;;)
      try {
        await work()
        return
      } catch (error) {
        if (!(error instanceof LogUnavailable)) throw error
      }
  }
  const act = async (contact_id: CustomerId, minute: number) => {
    // Clocks differ: the order of the feed must not depend on them.
    const now = new Date(Date.UTC(2026, 0, 15, 12, (minute * 37) % 60)).toISOString()
    const context = { organisation_id, actor: { type: 'operator', id: null }, correlation_id: 'test', now } as const
    const arrival = receive({ contact_id, ingest_id: contact_id, api_application_id: partner })
    const note = {
      activity_id: crypto.randomUUID(),
      kind: 'note',
      summary: `note ${minute}`,
      happened_at: now,
    } as const
    const acts = [arrival, { type: 'RecordActivity', ...note } as const]
    await untilStored(async () => made.handle({ contact_id, acts, by: user }, context))
  }
  const until = Date.now() + seconds * 1_000
  let acts = 0
  const write = async (writer: number) => {
    for (let index = 0; index < actsOfAWriter || Date.now() < until; index++) {
      const contact_id = ids[(writer * 7 + index * 5) % leadsInAll]
      if (contact_id) await act(contact_id, index * writers + writer)
      acts++
    }
  }

  const countWritten = async () => {
    const streams = await Promise.all(ids.map(async (id) => log.read(`lead-${id}`, { limit: 1_000_000 })))
    return streams.reduce((sum, { length }) => sum + length, 0)
  }

  let isWriting = true
  let written = 0
  let pages = 0
  const read = async <Item>(feed: string, isComplete: (items: readonly Item[]) => boolean) => {
    const items: Item[] = []
    let cursor: string | null = null
    for (;;) {
      // A page that was asked for before the end may be empty because of that.
      const isAtEnd = !isWriting
      const { body } = await api.get(`/api/v1/crm/${feed}?limit=7${cursor === null ? '' : `&cursor=${cursor}`}`)
      const page = body as Page<Item>
      pages++
      items.push(...page.data)
      if (page.data.length === 0 && isAtEnd && isComplete(items)) return items
      cursor = page.next_cursor
    }
  }
  const final = async () => {
    const { body } = await api.get('/api/v1/crm/leads?limit=200')
    return new Map((body as Page<Lead>).data.map((lead) => [lead.contact_id, lead]))
  }

  const readers = Promise.all([
    // As many events as were written; a missed one would let this wait until the test times out.
    read<LeadFeedEvent>('events', ({ length }) => length >= written),
    read<Lead>('leads', (items) => new Set(items.map(({ contact_id }) => contact_id)).size === leadsInAll),
  ])
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
  // An empty page is the last one only when the read models have come to the end of the log.
  expect(await progress.wait('lead', head, 20_000 + seconds * 1_000)).toBe(true)
  written = await countWritten()
  isWriting = false
  const [events, changes] = await readers
  const last = await final()
  await stop()
  const told = { writers, acts, events_written: written, events_read: events.length, leads_read: changes.length, pages }
  if (seconds > 0) process.stdout.write(`${JSON.stringify({ seconds, ...told })}\n`)
  return { events, changes, last, written, acts }
}

const expectNothingMissed = ({ events, changes, last, written, acts }: Awaited<ReturnType<typeof follow>>) => {
  expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(written)
  const seenLast = new Map(changes.map((lead) => [lead.contact_id, lead]))
  expect(last.size).toBe(leadsInAll)
  expect(seenLast).toEqual(last)
  const notes = events.map(({ payload }) => payload['summary']).filter((summary) => summary !== undefined)
  expect(new Set(notes).size).toBe(acts)
}

test('a reader of both feeds misses no change while 8 writers change leads, over PostgreSQL', patience, async () => {
  await using the = await fixture()

  const told = await follow(the, the.eventLog)

  expect(told.events).toHaveLength(told.written)
  expectNothingMissed(told)
})

test('a reader of both feeds misses no change while 8 writers change leads, over EventStoreDB', patience, async () => {
  await using the = await fixture()
  await using server = await startEventStoreDb()
  const log = eventStoreDbLog(server.url)

  const told = await follow(the, log)
  await log.close()

  expect(told.events).toHaveLength(told.written)
  expectNothingMissed(told)
})
