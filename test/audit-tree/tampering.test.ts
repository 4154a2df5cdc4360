import type { Pool, PoolClient, QueryConfig } from 'pg'
import { expect, test } from 'vitest'
import { asWritten, logReader } from '#infra/event-log/postgres/read.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { compareKept } from '#infra/audit-tree/kept-checkpoints.ts'
import { pagesOfLog } from '../../cli/audit/pages-of-log.ts'
import { verifyAuditLog } from '../../cli/audit/verify.ts'
import { newStream } from '../event-log/events.ts'
import { randomFrom } from '../journeys/random.ts'
import { auditFixture, eventOf, organisations, publicKeys } from './fixture.ts'
import { cutTail, someTampering, tamper, type Known, type Tampering } from './tampering.ts'

const [one, two, three] = organisations
type Fixture = Awaited<ReturnType<typeof auditFixture>>

/** Trees of different sizes, one of which has a full tile, with several checkpoints. */
const fill = async (the: Fixture): Promise<void> => {
  let leaves = 0
  for (const [organisation, count] of [
    [one, 120],
    [two, 1],
    [null, 3],
    [one, 141],
    [three, 7],
    [two, 9],
    [one, 2],
  ] as const) {
    const events = Array.from({ length: count }, () => eventOf(organisation, { premium_pence: 40_000 }))
    await the.log.append(newStream(), 'any', events)
    leaves += count
    await the.untilSigned(leaves)
  }
}

const knownOf = async (the: Fixture): Promise<Known> => {
  const byId = new Map((await the.events()).map((event) => [event.id, event]))
  const { rows: places } = await the.pool.query<{ tree: number; index: number; event_id: string }>(
    sql`select tree_id as tree, index::integer, event_id from audit_leaf order by tree_id, index`,
  )
  const { rows: checkpoints } = await the.pool.query<Known['checkpoints'][number]>(
    sql`select tree_id as tree, size::integer from audit_checkpoint order by tree_id, size`,
  )
  const { rows: tiles } = await the.pool.query<Known['tiles'][number]>(
    sql`select tree_id as tree, level, index::integer, length(hashes) as bytes from audit_tile order by tree_id, level, index`,
  )
  const leaves = places.flatMap(({ event_id, ...place }) => {
    const event = byId.get(event_id)
    return event ? [{ ...place, event }] : []
  })
  return { leaves, checkpoints, tiles }
}

/** The newest checkpoint of each log, which somebody has kept elsewhere. */
const keptOf = async (the: Fixture): Promise<readonly string[]> => {
  const { rows } = await the.pool.query<{ note: string }>(
    sql`select distinct on (tree_id) note from audit_checkpoint order by tree_id, size desc`,
  )
  return rows.map(({ note }) => note)
}

/** Verifies what one connection sees. */
const findingsOf = async (db: PoolClient, kept: readonly string[] = []) => {
  const asks = { query: (statement: QueryConfig) => db.query({ ...statement, types: asWritten }) }
  // It does nothing else with its pool.
  const reader = logReader(asks as unknown as Pool)
  const log = { readAll: (page = {}) => reader.page(page), head: reader.head }
  const verified = await verifyAuditLog({ db, events: pagesOfLog(log), logIsHere: true, publicKeys })
  const compared = await compareKept(db, each(kept), publicKeys)
  return [...verified.findings, ...compared.findings]
}

async function* each(notes: readonly string[]) {
  for (const note of notes) yield note
}

/** What an audit says after something was altered, which is undone afterwards. */
const findingsAfter = async (the: Fixture, tampering: Tampering, kept: readonly string[] = []) => {
  const db = await the.pool.connect()
  try {
    await db.query('begin')
    await tamper(db, tampering)
    return await findingsOf(db, kept)
  } finally {
    await db.query('rollback')
    db.release()
  }
}

/** So many, or as many as `npm run tamper` asks for; each twentieth cuts the end of a log off. */
const wanted = Number(process.env['TAMPERINGS'] ?? 60)
const seed = Number(process.env['TAMPERING_SEED'] ?? Date.now() % 1_000_000)

test(
  'each of many random alterations of the database is found, with the first bad position, and a log that was cut by a checkpoint kept elsewhere',
  { timeout: 120_000 + wanted * 1_000 },
  async () => {
    await using the = await auditFixture()
    const process = the.start()
    await fill(the)
    await process.stop()
    const known = await knownOf(the)
    const kept = await keptOf(the)
    const untouched = { name: 'nothing', statements: [], found: /^$/ }
    expect(await findingsAfter(the, untouched, kept)).toEqual([])

    const random = randomFrom(seed)
    const tails = Math.round(wanted / 20)
    const missed: string[] = []
    for (let number = 0; number < wanted; number++) {
      const tampering = number < wanted - tails ? someTampering(known, random) : cutTail(known, random)
      const findings = await findingsAfter(the, tampering, kept).catch((error: unknown) => [
        { reason: `failed: ${String(error)}` },
      ])
      if (!findings.some(({ reason }) => tampering.found.test(reason)))
        missed.push(`${tampering.name}: ${JSON.stringify(findings)} instead of ${tampering.found}`)
    }

    expect({ missed, seed }).toEqual({ missed: [], seed })
  },
)

test('a log that was cut with all that the audit log holds of its end is only found with a checkpoint kept elsewhere', async () => {
  await using the = await auditFixture()
  const process = the.start()
  await fill(the)
  await process.stop()
  const kept = await keptOf(the)
  const tampering = cutTail(await knownOf(the), randomFrom(seed))

  expect(await findingsAfter(the, tampering)).toEqual([])
  const [finding, ...others] = await findingsAfter(the, tampering, kept)

  expect(finding?.reason).toMatch(tampering.found)
  expect(finding?.reason).toMatch(/a checkpoint of \d+ leaves was kept elsewhere$/)
  expect(others).toEqual([])
})
