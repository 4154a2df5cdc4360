import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { notesIn } from '#infra/audit-tree/kept-checkpoints.ts'
import { linesOf } from '#infra/audit-tree/lines.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { beginNewLog } from '../../cli/audit/new-log.ts'
import { auditFixture, organisations } from './fixture.ts'

const [one, two] = organisations
const origin = `audit.test/audit/${one}`
type Fixture = Awaited<ReturnType<typeof auditFixture>>

let directory: string
let AUDIT_WITNESS_FILE: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'coverstream-witness-'))
  AUDIT_WITNESS_FILE = join(directory, 'checkpoints.txt')
})
afterEach(() => rm(directory, { recursive: true }))

const storedNotes = async ({ pool }: Fixture) =>
  (
    await pool.query<{ note: string }>(sql`select note from audit_checkpoint order by signed_at, tree_id, size`)
  ).rows.map(({ note }) => note)
const keptNotes = () => Array.fromAsync(notesIn(linesOf(AUDIT_WITNESS_FILE)))
const detailOnce = (process: ReturnType<Fixture['start']>, expected: string | RegExp) =>
  vi.waitFor(
    () => expect(process.check()).toMatchObject({ ok: false, detail: expect.stringMatching(expected) as string }),
    20_000,
  )

/** Cuts the last entry of a log off, with its event and every checkpoint of it, as whoever writes to the database can. */
const cutTail = async ({ pool }: Fixture) => {
  await pool.query(
    sql`delete from audit_checkpoint where size > 1 and tree_id = (select id from audit_tree where origin = ${origin})`,
  )
  await pool.query(sql`update audit_tree set size = 1, signed_size = 1 where origin = ${origin}`)
}

test('every checkpoint is appended to the file, and what the file lacks when a process begins', async () => {
  await using the = await auditFixture()
  const without = the.start()
  await the.append(one, 2)
  await the.untilSigned(2)
  await without.stop()
  const process = the.start({ AUDIT_WITNESS_FILE })
  await the.append(two, 1)
  await the.untilSigned(3)
  await process.stop()

  expect(await keptNotes()).toEqual((await storedNotes(the)).slice(-2))
})

test('a log whose end was cut off with its checkpoints is not signed, and health says so; others are', async () => {
  await using the = await auditFixture()
  const before = the.start({ AUDIT_WITNESS_FILE })
  await the.append(one, 1)
  await the.untilSigned(1)
  await the.append(one, 2)
  await the.untilSigned(3)
  await before.stop()
  await cutTail(the)

  const process = the.start({ AUDIT_WITNESS_FILE })
  await detailOnce(process, `not signed: ${origin}: leaf 1: it is not there`)
  await the.append(one, 1)
  await the.append(two, 1)
  await vi.waitFor(async () => {
    const { rows } = await the.pool.query(sql`select origin, signed_size::integer from audit_tree order by origin`)
    expect(rows).toEqual([
      { origin, signed_size: 1 },
      { origin: `audit.test/audit/${two}`, signed_size: 1 },
    ])
  }, 20_000)
  await process.stop()

  // Logs that begin again do so under a name that the file does not know.
  await appendFile(AUDIT_WITNESS_FILE, `\n${(await keptNotes())[0]?.replace(origin, `${origin}/4`)}`)
  expect(await beginNewLog(the.pool, 'its end was cut off', AUDIT_WITNESS_FILE)).toBe(5)
  const again = the.start({ AUDIT_WITNESS_FILE })
  await the.untilSigned(5)
  expect(again.check()).toMatchObject({ ok: true })
})

test('a checkpoint that a crash has cut off in the file does not count, and stands apart from what follows', async () => {
  await using the = await auditFixture()
  const before = the.start({ AUDIT_WITNESS_FILE })
  await the.append(one, 1)
  await the.untilSigned(1)
  await before.stop()
  const whole = await readFile(AUDIT_WITNESS_FILE, 'utf8')
  await writeFile(AUDIT_WITNESS_FILE, whole.slice(0, -30))

  const process = the.start({ AUDIT_WITNESS_FILE })
  await the.append(one, 1)
  await the.untilSigned(2)
  await process.stop()

  expect(await keptNotes()).toEqual(expect.arrayContaining(await storedNotes(the)))
})

test('a file that cannot be written is told, nothing else waits, and what it lacks is written later', async () => {
  await using the = await auditFixture()
  const file = join(directory, 'not', 'there.txt')
  const process = the.start({ AUDIT_WITNESS_FILE: file })
  await the.append(one, 1)
  await the.untilSigned(1)

  await detailOnce(process, /AUDIT_WITNESS_FILE cannot be written: .*ENOENT/)
  await mkdir(join(directory, 'not'))
  await the.append(one, 1)
  await the.untilSigned(2)
  // The one before is written too, where the file was tried again before the next was signed.
  await vi.waitFor(
    async () => expect((await Array.fromAsync(notesIn(linesOf(file)))).at(-1)).toEqual((await storedNotes(the)).at(-1)),
    20_000,
  )
  expect(process.check()).toMatchObject({ ok: true })
})
