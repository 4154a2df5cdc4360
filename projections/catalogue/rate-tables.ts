import { idOf } from '#domain/event.ts'
import { rateTableEvents, type RateTable } from '#domain/rating/events.ts'
import { documentProjection, happenedAt } from '../document-projection.ts'

/** Every version of every rate table that was ever published: a price can always be worked out again. */
export const rateTables = documentProjection({
  name: 'rate_tables',
  version: 1,
  categories: ['rate_table'],
  events: rateTableEvents,
  awaited: 'never',
  keys: ({ organisation_id }, { stream }) => [{ organisation_id, id: idOf(stream) }],
  evolve: (_before, { table: { cells, ...table } }): Omit<RateTable, 'cells'> & { readonly cell_count: number } => ({
    ...table,
    cell_count: Object.keys(cells).length,
  }),
  columns: {
    key: 'text',
    version: 'integer',
    published_at: happenedAt,
    document: 'json',
    cells: { type: 'json', of: (_document, _recorded, { table }) => table.cells },
  },
  indexes: ['organisation_id, published_at, id', 'organisation_id, key, version'],
})
