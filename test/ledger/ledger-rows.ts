import { accounts, type Account, type EntryDocument } from '#domain/ledger/record.ts'
import type { Position, RecordedEvent } from '#domain/event.ts'
import { ledger } from '../../projections/ledger/projection.ts'
import type { Documents, LedgerEvent, Part, Row } from '../../projections/ledger/row.ts'

/** The ledger without a database: what its fold makes of events, one after the other. */

export const organisation_id = '6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f'

const positionOf = (count: number): Position => String(count).padStart(20, '0') as Position

/** An event as it was stored, the numbered one of all. */
export const storedAs = (
  { type, ...data }: LedgerEvent,
  { stream, count, occurred_at }: { readonly stream: string; readonly count: number; readonly occurred_at: string },
): RecordedEvent => ({
  id: `0190a0b0-0000-7000-8000-${String(count).padStart(12, '0')}`,
  type,
  schema_version: 1,
  data,
  stream,
  revision: count,
  position: positionOf(count),
  recorded_at: new Date(occurred_at),
  metadata: {
    organisation_id,
    actor: { type: 'system', id: null },
    correlation_id: 'test',
    causation_id: null,
    occurred_at,
  },
})

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0)

export const ledgerRows = () => {
  const rows = new Map<string, Row>()
  let count = 0
  const identity = (key: Pick<Row, 'part' | 'id'>) => `${key.part} ${key.id}`
  const documentOf = <Name extends Part>(part: Name, id: string) =>
    rows.get(identity({ part, id }))?.document as Documents[Name] | undefined // as a row holds what its part says

  /** What was posted by an event. */
  const post = (event: LedgerEvent, stream: string, occurred_at = '2026-07-01T09:00:00.000Z'): readonly Row[] => {
    const recorded = storedAs(event, { stream, count: ++count, occurred_at })
    const before = (key: Pick<Row, 'part' | 'id'>) => rows.get(identity(key))
    const touched = ledger
      .keys(event, recorded)
      .map((key) => ({ key, row: ledger.project(before(key), event, recorded, key, before) }))
    for (const { key, row } of touched)
      if (row) rows.set(identity(key), row)
      else rows.delete(identity(key))
    return touched.flatMap(({ row }) => (row?.part === 'entry' ? [row] : []))
  }
  const entries = () => [...rows.values()].filter(({ part }) => part === 'entry')
  const balance = (account: Account): number => sum(entries().map((row) => row[account] ?? 0))

  return {
    post,
    entries,
    balance,
    documentOf,
    rows: () => rows,
    /** Of each account that something stands on. */
    balances: (): Readonly<Partial<Record<Account, number>>> =>
      Object.fromEntries(
        accounts.flatMap((account) => {
          const pence = balance(account)
          return pence === 0 ? [] : [[account, pence]]
        }),
      ),
    kinds: () => entries().map(({ document }) => (document as EntryDocument).kind), // of entries
  }
}

/** Debits less credits of an entry. */
export const imbalanceOf = (row: Row): number => sum(accounts.map((account) => row[account] ?? 0))
