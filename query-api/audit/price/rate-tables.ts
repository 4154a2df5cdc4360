import type { Release } from '#domain/catalogue/events.ts'
import { fromStored, type RecordedEvent } from '#domain/event.ts'
import { rateTableEvents, rateTableKey, type RateTable } from '#domain/rating/events.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { derivedId } from '#infra/ids.ts'

const atOnce = 8

/** A version of a rate table, and the event by which it was published. */
export type PublishedTable = { readonly table: RateTable; readonly recorded: RecordedEvent }

export const readTable = async (
  eventLog: Pick<EventLog, 'read'>,
  organisation_id: string,
  [key, version]: readonly [key: string, version: number],
): Promise<PublishedTable | undefined> => {
  const stream = `rate_table-${derivedId(...rateTableKey(organisation_id, key, version))}`
  const [recorded] = await eventLog.read(stream, { limit: 1 })
  return recorded && { table: fromStored(rateTableEvents, recorded).table, recorded }
}

/** The tables that a release prices with, by key, as far as they were published. */
export const rateTablesOf = async (
  eventLog: Pick<EventLog, 'read'>,
  { organisation_id, rate_tables }: Pick<Release, 'organisation_id' | 'rate_tables'>,
): Promise<ReadonlyMap<string, RateTable>> => {
  const named = Object.entries(rate_tables)
  const found = new Map<string, RateTable>()
  for (let from = 0; from < named.length; from += atOnce) {
    const some = named.slice(from, from + atOnce)
    const tables = await Promise.all(some.map(async (each) => readTable(eventLog, organisation_id, each)))
    for (const published of tables) if (published) found.set(published.table.key, published.table)
  }
  return found
}
