import { expect, test } from 'vitest'
import { OrganisationId } from '#domain/values.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { newestFirst } from '../query-api/newest-first.ts'
import { cursorAfter, highestId, lowestId } from '../query-api/page.ts'

const id = 'a0000000-0000-4000-8000-000000000001'
const [early, late] = ['2026-06-01T09:00:00.000Z', '2026-06-01T09:00:00.001Z'] as const
const after = (at: string) => cursorAfter(new Date(at), id)

/** Where the list begins, as PostgreSQL is told. */
const beginningOf = async (given: { readonly until?: string; readonly cursor?: string }): Promise<unknown[]> => {
  const asked: { readonly text: string; readonly values: readonly unknown[] }[] = []
  const query = async (statement: (typeof asked)[number]) => {
    asked.push(statement)
    return { rows: [] }
  }
  const list = { table: 'quotes', time: 'created_at' } as const
  const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
  // What the list is read from.
  await newestFirst({ query } as unknown as Database, list, { organisation_id, limit: 50, ...given })
  expect(asked[0]?.text.match(/created_at(, id\))? </g)).toHaveLength(1)
  return asked[0]?.values.slice(1, 3) ?? []
}

test.each([
  ['with the newest', {}, ['infinity', highestId]],
  ['after the cursor', { cursor: after(early) }, [early, id]],
  ['before a moment, not at it', { until: early }, [early, lowestId]],
  ['after a cursor that is earlier than the moment', { cursor: after(early), until: late }, [early, id]],
  ['before the moment where the cursor is at it', { cursor: after(late), until: late }, [late, lowestId]],
  ['before the moment where the cursor is later', { cursor: after(late), until: early }, [early, lowestId]],
])('a list begins %s, which one condition says', async (_where, given, expected) => {
  expect(await beginningOf(given)).toEqual(expected)
})
