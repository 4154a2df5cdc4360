import { expect, test, vi } from 'vitest'
import { openNote, verifierOf, type Verifier } from '#infra/audit-tree/signed-note.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { beginNewLog } from '../../cli/audit/new-log.ts'
import { requireCheckpoint, requireTree } from '../../query-api/audit/trees.ts'
import { auditFixture, organisations, publicKeys } from './fixture.ts'
import { startWitness } from './witness.ts'

const [one, two] = organisations
const keyOf = (origin: string): Verifier => {
  const [key] = publicKeys
  return key ? verifierOf(origin, key) : expect.fail('There is no key.')
}

type Fixture = Awaited<ReturnType<typeof auditFixture>>
type Witness = Awaited<ReturnType<typeof startWitness>>

const originOf = (organisation: string) => `audit.test/audit/${organisation}`

const sizeSeen = ({ seen }: Witness, organisation: string): number => seen.get(originOf(organisation))?.size ?? 0

const untilSeen = (witness: Witness, organisation: string, size: number) =>
  vi.waitUntil(() => sizeSeen(witness, organisation) >= size, { timeout: 30_000, interval: 10 })

const untilDetail = (process: ReturnType<Fixture['start']>, detail: RegExp) =>
  vi.waitUntil(() => detail.test(process.check().detail ?? ''), { timeout: 30_000, interval: 10 })

test('a witness cosigns each log as it grows, and its signatures are shown with the checkpoints', async () => {
  await using the = await auditFixture()
  await using witness = await startWitness(keyOf)
  await the.append(one, 3)
  await the.append(two)
  the.start({ AUDIT_WITNESSES: [witness.setting] })
  await untilSeen(witness, one, 3)
  await untilSeen(witness, two, 1)
  await the.append(one, 300)
  await untilSeen(witness, one, 303)

  const tree = await requireTree(the.pool, one)
  await vi.waitUntil(
    async () => (await the.pool.query(sql`select from audit_cosignature where size = 303`)).rowCount === 1,
    { timeout: 30_000, interval: 10 },
  )
  const { note } = await requireCheckpoint(the.pool, tree, 303)
  const opened = openNote(note, [keyOf(originOf(one)), witness.verifier])
  expect(opened?.signedBy).toEqual([keyOf(originOf(one)), witness.verifier])
  expect((await the.verify()).findings).toEqual([])
})

test('a process that has forgotten what a witness has cosigned learns it from the witness', async () => {
  await using the = await auditFixture()
  await using witness = await startWitness(keyOf)
  await the.append(one, 5)
  const before = the.start({ AUDIT_WITNESSES: [witness.setting] })
  await untilSeen(witness, one, 5)
  await before.stop()
  await the.pool.query(sql`delete from audit_cosignature`)
  await the.append(one, 2)
  the.start({ AUDIT_WITNESSES: [witness.setting] })

  await untilSeen(witness, one, 7)
  expect(sizeSeen(witness, one)).toBe(7)
})

test('a log that was cut is not signed any more once a witness knows of a later checkpoint', async () => {
  await using the = await auditFixture()
  await using witness = await startWitness(keyOf)
  await the.append(one, 2)
  const before = the.start({ AUDIT_WITNESSES: [witness.setting] })
  await untilSeen(witness, one, 2)
  await the.append(one, 3)
  await untilSeen(witness, one, 5)
  await before.stop()
  // As a backup has it from before the last events.
  await the.pool.query(sql`delete from audit_cosignature`)
  await the.pool.query(sql`delete from audit_checkpoint where size > 2`)
  await the.pool.query(sql`update audit_tree set signed_size = 2`)

  const after = the.start({ AUDIT_WITNESSES: [witness.setting] })
  await untilDetail(
    after,
    /^not signed: .*the witness witness\.test\+[\da-f]{8} has cosigned 5 entries, the database has signed 2$/,
  )
  expect(after.check().ok).toBe(false)
  await after.stop()

  await beginNewLog(the.pool, 'its end was cut off')
  the.start({ AUDIT_WITNESSES: [witness.setting] })
  await vi.waitUntil(() => witness.seen.has(`${originOf(one)}/2`), { timeout: 30_000, interval: 10 })
})

test('a log that was made otherwise is not signed any more once a witness has seen what it was', async () => {
  await using the = await auditFixture()
  await using witness = await startWitness(keyOf)
  await the.append(one, 4)
  const before = the.start({ AUDIT_WITNESSES: [witness.setting] })
  await untilSeen(witness, one, 4)
  await before.stop()
  const head = witness.seen.get(originOf(one))
  if (!head) expect.fail()
  witness.seen.set(originOf(one), { ...head, root: Buffer.alloc(32, 9) })
  await the.append(one)

  const after = the.start({ AUDIT_WITNESSES: [witness.setting] })
  await untilDetail(after, /^not signed: .*the witness witness\.test\+[\da-f]{8} has seen other entries in it$/)
  expect(after.check().ok).toBe(false)
})

test.each([
  [{ status: 500, body: '' }, /^signing; not cosigned: witness\.test\+[\da-f]{8}: .*it answers 500$/],
  [{ status: 404, body: '' }, /it does not follow this log$/],
  [{ status: 403, body: '' }, /it does not know the key that signs this log$/],
  [{ status: 409, body: 'many' }, /it answers 409 without a size$/],
  [{ status: 200, body: '— witness.test aGVsbG8gd29ybGQ=\n' }, /its signature is not that of its key$/],
  [{ status: 200, body: 'nothing' }, /its signature is not that of its key$/],
])('a witness that answers %j keeps nothing from being signed, and health says so', async (answer, detail) => {
  await using the = await auditFixture()
  await using witness = await startWitness(keyOf)
  witness.answerAll(answer)
  await the.append(one)
  const process = the.start({ AUDIT_WITNESSES: [witness.setting] })
  await the.untilSigned(1)
  await untilDetail(process, detail)
  expect(process.check().ok).toBe(true)

  witness.answerAll(undefined)
  await untilSeen(witness, one, 1)
  await untilDetail(process, /^signing$/)
})
