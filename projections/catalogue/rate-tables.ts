import { idOf } from '#domain/event.ts'
import { rateTableEvents, type RateTable } from '#domain/rating/events.ts'
import type { Projection } from '../projection.ts'

type Row = {
  readonly organisation_id: string
  readonly id: string
  readonly key: string
  readonly version: number
  readonly published_at: string
  readonly document: Omit<RateTable, 'cells'> & { readonly cell_count: number }
  readonly cells: RateTable['cells']
}

/** Every version of every rate table that was ever published: a price can always be worked out again. */
export const rateTables: Projection<typeof rateTableEvents, Row, 'organisation_id' | 'id'> = {
  name: 'rate_tables',
  version: 1,
  categories: ['rate_table'],
  events: rateTableEvents,
  awaited: 'never',
  table: {
    columns: {
      organisation_id: 'uuid',
      id: 'uuid',
      key: 'text',
      version: 'integer',
      published_at: 'timestamptz',
      document: 'json',
      cells: 'json',
    },
    key: ['organisation_id', 'id'],
    indexes: ['organisation_id, published_at, id', 'organisation_id, key, version'],
  },

  keys: ({ organisation_id }, { stream }) => [{ organisation_id, id: idOf(stream) }],

  project: (_row, { table: { cells, ...table } }, { metadata }, key) => ({
    ...key,
    key: table.key,
    version: table.version,
    published_at: metadata.occurred_at,
    document: { ...table, cell_count: Object.keys(cells).length },
    cells,
  }),
}
