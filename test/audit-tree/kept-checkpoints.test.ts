import { expect, test } from 'vitest'
import { headText } from '#infra/audit-tree/checkpoint-text.ts'
import { sha256 } from '#infra/audit-tree/merkle.ts'
import { signNote } from '#infra/audit-tree/signed-note.ts'
import { ed25519Key } from '#infra/crypto/keys.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { compareKept, notesIn } from '#infra/audit-tree/kept-checkpoints.ts'
import { beginNewLog } from '../../cli/audit/new-log.ts'
import { auditFixture, organisations, publicKeys } from './fixture.ts'

const [one] = organisations
const origin = `audit.test/audit/${one}`

async function* linesOf(text: string) {
  for (const line of text.split(/(?<=\n)/)) yield Buffer.from(line)
}

const compare = async (the: Awaited<ReturnType<typeof auditFixture>>, notes: readonly string[]) =>
  compareKept(the.pool, notesIn(linesOf(notes.join('\n'))), publicKeys)

const noteOf = (size: number, byte: number, name = origin) =>
  signNote(
    headText({ origin: name, size, root: sha256('other') }),
    name,
    ed25519Key(Buffer.alloc(32, byte)),
    new Date(),
  )

/** A log of three events with two checkpoints. */
const filled = async () => {
  const the = await auditFixture()
  const process = the.start()
  await the.append(one, 1)
  await the.untilSigned(1)
  await the.append(one, 2)
  await the.untilSigned(3)
  await process.stop()
  const { rows } = await the.pool.query<{ note: string }>(sql`select note from audit_checkpoint order by size`)
  return { the, notes: rows.map(({ note }) => note) }
}

test.each([
  ['one right after the other', 'a\n1\nx\n\n— n s\n— n t\nb\n2\ny\n\n— n s\n'],
  ['with empty lines between them', '\na\n1\nx\n\n— n s\n— n t\n\n\nb\n2\ny\n\n— n s'],
])('checkpoints are read from a file that holds them %s', async (_, file) => {
  expect(await Array.fromAsync(notesIn(linesOf(file)))).toEqual(['a\n1\nx\n\n— n s\n— n t\n', 'b\n2\ny\n\n— n s\n'])
})

test('checkpoints that were kept elsewhere are compared with those that are stored', async () => {
  const { the, notes } = await filled()
  await using _ = the

  expect(await compare(the, notes)).toEqual({ compared: notes.length, former: 0, findings: [] })
  expect((await compare(the, [...notes, noteOf(3, 2)])).findings).toEqual([
    { origin, reason: 'checkpoint 3: the one that was kept elsewhere differs' },
  ])
  expect((await compare(the, [noteOf(9, 2), ...notes])).findings).toEqual([
    { origin, reason: 'leaf 3: it is not there, and a checkpoint of 9 leaves was kept elsewhere' },
  ])
  expect((await compare(the, [noteOf(3, 7)])).findings).toEqual([
    { origin: 'kept checkpoints', reason: `checkpoint 3 of ${origin}: it is not signed with a known key` },
  ])
  expect((await compare(the, [noteOf(3, 2, `${origin}0`)])).findings).toEqual([
    { origin: `${origin}0`, reason: 'checkpoint 3: it was kept elsewhere, and there is no log of that name' },
  ])
})

test('of a log that has begun again, checkpoints that are not there any more are counted, and those that differ are found', async () => {
  const { the, notes } = await filled()
  await using _ = the
  await beginNewLog(the.pool, 'restored from the backup of Tuesday')

  expect(await compare(the, [...notes, noteOf(9, 2)])).toEqual({ compared: notes.length, former: 1, findings: [] })
  expect((await compare(the, [noteOf(3, 2)])).findings).toEqual([
    { origin, reason: 'checkpoint 3: the one that was kept elsewhere differs' },
  ])
})
