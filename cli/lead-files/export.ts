import { stringify } from 'csv-stringify/sync'
import { z } from 'zod'
import { toCell } from './cells.ts'
import { Failed, send, type Service } from './service.ts'

const Page = z.object({ data: z.array(z.record(z.string(), z.unknown())), next_cursor: z.string().nullable() })

const paths = { leads: '/leads', outcomes: '/outcomes', events: '/lead_events' }
export type Exportable = keyof typeof paths
export const isExportable = (what: string): what is Exportable => what in paths

const columns: Readonly<Record<Exportable, readonly string[]>> = {
  leads: [
    'contact_id',
    'external_system_id',
    'title',
    'first_name',
    'last_name',
    'email',
    'phone_number',
    'dob',
    'postal_code',
    'status',
    'stage',
    'owner_id',
    'score',
    'grade',
    'source',
    'campaign',
    'facts',
    'updated_at',
  ],
  outcomes: [
    'id',
    'event_id',
    'type',
    'contact_id',
    'occurred_at',
    'source',
    'deal_ref',
    'product',
    'values',
    'missing_values',
    'currency',
    'reversed',
    'reversal_of',
  ],
  events: [
    'event_id',
    'event_type',
    'occurred_at',
    'recorded_at',
    'contact_id',
    'external_system_id',
    'campaign_key',
    'actor',
    'payload',
  ],
}

/** Writes all there is to standard output, a page at a time. */
export const exportAll = async (
  service: Service,
  what: Exportable,
  { format, bom }: { readonly format: string; readonly bom: boolean },
): Promise<void> => {
  if (format !== 'csv' && format !== 'jsonl') throw new Failed('The format is csv or jsonl.')
  if (bom && format !== 'csv') throw new Failed('Only a CSV file has a byte order mark. Leave out --bom.')
  if (format === 'csv') process.stdout.write(stringify([columns[what]], { bom }))
  let cursor: string | undefined
  for (;;) {
    const path = `${paths[what]}?limit=200${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`
    const { data, next_cursor } = Page.parse(await send(service, path))
    const lines =
      format === 'jsonl'
        ? data.map((item) => `${JSON.stringify(item)}\n`).join('')
        : stringify(
            data.map((item) => cellsOf(item, columns[what])),
            { quoted_match: /^\s|\s$|\r/ },
          )
    // What reads us may be slower than we are: no more than a page is kept.
    if (!process.stdout.write(lines)) await new Promise((resolve) => process.stdout.once('drain', resolve))
    if (data.length < 200 || next_cursor === null || next_cursor === cursor) return
    cursor = next_cursor
  }
}

type Item = Readonly<Record<string, unknown>>
const isItem = (value: unknown): value is Item => typeof value === 'object' && value !== null

/** Called for every row of a large file, so nothing is parsed here. */
const cellsOf = (item: Item, wanted: readonly string[]): string[] => {
  const parts = [item, item['shown'], item['marks'], item['person']].filter(isItem)
  return wanted.map((column) => {
    const value = parts.find((part) => (part[column] ?? null) !== null)?.[column] ?? ''
    const isNamed = column === 'stage' || column === 'campaign'
    const text: unknown = isNamed && isItem(value) ? value['key'] : value
    return toCell(typeof text === 'string' ? text : JSON.stringify(text ?? ''))
  })
}
