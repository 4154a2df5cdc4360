import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import type { CarefulCaller } from './caller.ts'

export type Load = {
  readonly caller: CarefulCaller
  readonly faults: string[]
  /** Whether a process of the version before listens there. */
  readonly isBefore: (port: number) => boolean
  readonly signal: AbortSignal
}

const One = z.object({ data: z.looseObject({ id: z.uuid() }) })
const Applied = z.object({ data: z.looseObject({ status: z.literal('applied'), contact_id: z.uuid() }) })
const Page = z.object({ data: z.array(z.unknown()), next_cursor: z.string().nullable() })

const patienceMs = 60_000
const soonMs = 10_000

/** What a client could not go on with. */
const noting =
  (faults: string[]) =>
  async (error: unknown): Promise<void> => {
    faults.push(error instanceof Error ? error.message : String(error))
    await pause(200)
  }

/**
 * Leads that are sent in, read at once, and sold, as long as the load lasts. What was answered with an id is there; only of a
 * process of the version before is a moment taken for granted, and counted.
 */
export const sendLeads = async ({ caller, faults, isBefore, signal }: Load, clients: number) => {
  const counts = { leads: 0, outcomes: 0, lateBefore: 0 }

  const find = async (path: string): Promise<unknown> => {
    const deadline = Date.now() + soonMs
    for (;;) {
      const { status, body, answeredBy } = await caller.send('GET', path)
      if (status === 200) return body
      if (status !== 404 || !isBefore(answeredBy) || Date.now() > deadline) {
        faults.push(`GET ${path}, of what was answered with this id, was answered ${status}: ${JSON.stringify(body)}`)
        return undefined
      }
      counts.lateBefore++
      await pause(50)
    }
  }

  const untilApplied = async (id: string): Promise<string | undefined> => {
    const deadline = Date.now() + patienceMs
    while (Date.now() < deadline) {
      const found = Applied.safeParse(await find(`/crm/ingests/${id}`))
      if (found.success) return found.data.data.contact_id
      if (signal.aborted) return undefined
      await pause(100)
    }
    faults.push(`ingest ${id} was not applied within a minute`)
    return undefined
  }

  const untilListed = async (contact_id: string, id: string): Promise<void> => {
    const deadline = Date.now() + soonMs
    for (;;) {
      const { body } = await caller.send('GET', `/crm/outcomes?contact_id=${contact_id}`)
      const { data } = Page.parse(body)
      if (data.includes(null)) faults.push(`the outcomes of ${contact_id} are ${JSON.stringify(data)}`)
      if (data.some((each) => z.object({ id: z.literal(id) }).safeParse(each).success)) return
      if (Date.now() > deadline) return void faults.push(`outcome ${id} of ${contact_id} is not listed`)
      await pause(50)
    }
  }

  const sellOne = async (): Promise<void> => {
    const number = ++counts.leads
    const lead = { source: 'website', identity: { email: `lead-${number}@example.com`, first_name: 'Ann' } }
    const sent = await caller.send('POST', '/crm/ingests', { ...lead, declared: { wish: number } })
    const ingest = One.parse(sent.body).data
    await find(`/crm/ingests/${ingest.id}`)
    const contact_id = await untilApplied(ingest.id)
    if (contact_id === undefined) return
    const outcome = { contact_id, type: 'called', occurred_at: new Date().toISOString(), event_id: `call-${number}` }
    const reported = await caller.send('POST', '/crm/outcomes', outcome)
    const { id } = One.parse(reported.body).data
    counts.outcomes++
    await untilListed(contact_id, id)
  }
  const work = async () => {
    while (!signal.aborted) await sellOne().catch(noting(faults))
  }
  await Promise.all(Array.from({ length: clients }, work))
  return counts
}

/** Lists that are followed by their cursors, and by what an entry of each is known again. */
export const followed: Readonly<Record<string, (entry: Readonly<Record<string, unknown>>) => string>> = {
  // A lead comes again whenever it has changed.
  '/crm/leads': (entry) => JSON.stringify(entry),
  '/crm/events': ({ event_id }) => String(event_id),
  '/crm/outcomes': ({ id }) => String(id),
  '/lifecycle_events': ({ id }) => String(id),
}

/** Reads a list from a cursor to its end, and counts each entry. */
const readOn = async (
  { caller, faults, isBefore }: Pick<Load, 'caller' | 'faults' | 'isBefore'>,
  list: string,
  seen: Map<string, number>,
  from: string | null,
): Promise<string | null> => {
  const identify = followed[list]
  for (let cursor = from; ;) {
    const { body, answeredBy } = await caller.send(
      'GET',
      `${list}?limit=100${cursor === null ? '' : `&cursor=${cursor}`}`,
    )
    const { data, next_cursor } = Page.parse(body)
    for (const entry of data) {
      const read = z.record(z.string(), z.unknown()).safeParse(entry)
      if (!read.success || !identify)
        faults.push(
          `${list} of a process of ${isBefore(answeredBy) ? 'the version before' : 'this version'} shows ${JSON.stringify(entry)}`,
        )
      else seen.set(identify(read.data), (seen.get(identify(read.data)) ?? 0) + 1)
    }
    if (data.length === 0) return next_cursor
    cursor = next_cursor
  }
}

/** A receiver that follows a list as long as the load lasts, then once more to its end, and is compared with one that reads it again. */
export const follow = async (load: Load, list: string) => {
  const seen = new Map<string, number>()
  let cursor: string | null = null
  while (!load.signal.aborted) {
    await readOn(load, list, seen, cursor).then((next) => {
      cursor = next
    }, noting(load.faults))
    await pause(100)
  }
  return {
    list,
    /** Once nothing is written any more. */
    conclude: async (): Promise<number> => {
      await readOn(load, list, seen, cursor)
      const reloaded = new Map<string, number>()
      await readOn(load, list, reloaded, null)
      const again = [...seen].filter(([, times]) => times > 1)
      const missing = [...reloaded.keys()].filter((each) => !seen.has(each))
      if (again.length > 0)
        load.faults.push(`${list} has shown ${again.length} entries again, such as ${again[0]?.[0]}`)
      if (missing.length > 0)
        load.faults.push(`${list} has never shown ${missing.length} of ${reloaded.size} entries, such as ${missing[0]}`)
      return seen.size
    },
  }
}
