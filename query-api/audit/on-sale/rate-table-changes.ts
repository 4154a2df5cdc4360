import { z } from 'zod'
import type { Release } from '#domain/catalogue/events.ts'
import { compareTables, type TableComparison } from '#domain/rating/compare-tables.ts'
import { CurrencyCode } from '#domain/values.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { readTable } from '../price/rate-tables.ts'
import { Done, type Doer } from './done.ts'

const Cells = z.object({
  count: z.int().describe('So many cells.'),
  samples: z
    .array(
      z.object({
        at: z.record(z.string(), z.string()).describe('The cell: `{ "age": "34", "term": "25", "smoker": "n" }`.'),
        before: z.int().nullable(),
        after: z.int().nullable(),
      }),
    )
    .describe('The first few of them; of those that changed, the ones that changed most.'),
})

const Comparison = z
  .object({
    cells_before: z.int(),
    cells_after: z.int(),
    currency_code: z
      .object({ before: CurrencyCode, after: CurrencyCode })
      .nullable()
      .describe('null: both are in the same currency.'),
    dimensions: z.object({ added: z.array(z.string()), removed: z.array(z.string()) }),
    values: z
      .array(z.object({ dimension: z.string(), added: z.array(z.string()), removed: z.array(z.string()) }))
      .describe('The values, such as ages, that only one of the versions has.'),
    added: Cells,
    removed: Cells,
    changed: Cells,
    ratio: z
      .object({ smallest: z.number(), largest: z.number() })
      .nullable()
      .describe(
        'Of the changed cells, the smallest and the largest rate after for one before. null: none has changed.',
      ),
  })
  .meta({ id: 'RateTableComparison' })

export const RateTableChange = z
  .object({
    key: z.string(),
    before: z.int().nullable().describe('The version of the release before; null: it did not use the table.'),
    after: z.int().nullable().describe('The version of this release; null: it does not use the table.'),
    published: Done.nullable().describe('Who published the version of this release, and who approved that.'),
    cells: Comparison.nullable().describe('null: one of the two is not there.'),
  })
  .meta({ id: 'RateTableChange' })
type RateTableChange = z.input<typeof RateTableChange>

type Versions = { readonly before: number | undefined; readonly after: number | undefined }

/** The rate tables of which two releases use other versions, with what that changes in their cells. */
export const rateTableChanges = async (
  eventLog: Pick<EventLog, 'read'>,
  before: Release,
  after: Release,
  doneBy: Doer,
): Promise<RateTableChange[]> => {
  const changes: RateTableChange[] = []
  const keys = new Set([...Object.keys(before.rate_tables), ...Object.keys(after.rate_tables)])
  for (const key of [...keys].toSorted()) {
    const versions = { before: before.rate_tables[key], after: after.rate_tables[key] }
    if (versions.before !== versions.after)
      changes.push(await changeOf(eventLog, after.organisation_id, key, versions, doneBy))
  }
  return changes
}

const changeOf = async (
  eventLog: Pick<EventLog, 'read'>,
  organisation_id: string,
  key: string,
  { before, after }: Versions,
  doneBy: Doer,
): Promise<RateTableChange> => {
  const read = async (version: number | undefined) =>
    version === undefined ? undefined : readTable(eventLog, organisation_id, [key, version])
  const [former, latter] = await Promise.all([read(before), read(after)])
  return {
    key,
    before: before ?? null,
    after: after ?? null,
    published: latter ? await doneBy(latter.recorded) : null,
    cells: former && latter ? shownComparison(compareTables(former.table, latter.table)) : null,
  }
}

const shownComparison = ({ dimensions, values, ...compared }: TableComparison): RateTableChange['cells'] => {
  const shownCells = ({ count, samples }: TableComparison['added']) => ({
    count,
    samples: samples.map(({ at, before, after }) => ({ at: { ...at }, before, after })),
  })
  return {
    ...compared,
    dimensions: { added: [...dimensions.added], removed: [...dimensions.removed] },
    values: values.map(({ dimension, added, removed }) => ({ dimension, added: [...added], removed: [...removed] })),
    added: shownCells(compared.added),
    removed: shownCells(compared.removed),
    changed: shownCells(compared.changed),
  }
}
