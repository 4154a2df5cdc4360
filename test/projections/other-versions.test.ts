import { Client } from 'pg'
import { expect, test } from 'vitest'
import { findCheckpoint } from '#infra/consumers/checkpoint.ts'
import { checkConsumer } from '#infra/parts.ts'
import { compareWithRebuild } from '../../projections/compare.ts'
import { runProjection } from '../../projections/runner.ts'
import { fixture, raised, soon, type Fixture } from './fixture.ts'
import { doubled, fill, live, tables, total } from './rebuilding.ts'
import { tallies } from './tally.ts'

/** A process of a version from before, whose connections bear no mark. */
const connectOld = async ({ url }: Fixture) => {
  const client = new Client({ connectionString: url, application_name: 'coverstream' })
  await client.connect()
  return {
    total: async () => {
      const { rows } = await client.query<{ total: number }>('select sum(total)::integer as total from tallies')
      return rows[0]?.total
    },
    [Symbol.asyncDispose]: () => client.end(),
  }
}

test('while a process of the version before is connected, it reads the read model that it knows, and the new one theirs', async () => {
  await using the = await fixture()
  await fill(the, 10)
  const old = the.makeProcess('old')
  const running = old.run((parts) => runProjection(tallies, parts))
  await live(running)
  const next = the.makeProcess('next')
  {
    await using reader = await connectOld(the)
    const succeeding = next.run((parts) => runProjection(doubled, parts))
    await soon(async () => expect(await total(the)).toBe(20))
    expect(await reader.total()).toBe(10)
    await soon(() =>
      expect(checkConsumer(succeeding)).toMatchObject({
        ok: true,
        detail: 'version 2 is kept beside the one in use, which others read: 1 connections from 127.0.0.1',
      }),
    )

    await the.append(11, raised())

    await soon(async () => expect([await reader.total(), await total(the)]).toEqual([11, 22]))
    expect(running.status().state).toBe('live')
    await old.stop()
    await the.append(12, raised())
    await soon(async () => expect(await total(the)).toBe(24))
    expect(await reader.total()).toBe(11)
    expect(await findCheckpoint(the.pool, 'tallies')).toMatchObject({ version: 1 })
  }

  await soon(async () => expect(await findCheckpoint(the.pool, 'tallies')).toMatchObject({ version: 2 }))
  await the.append(13, raised())
  await soon(async () => expect(await total(the)).toBe(26))
  expect(await tables(the)).toEqual(['tallies'])
  expect(await findCheckpoint(the.pool, 'tallies (version 2)')).toBeUndefined()
  const { rowCount } = await the.pool.query(`select from pg_namespace where nspname like 'read\\_models\\_%'`)
  expect(rowCount).toBe(0)
  expect(await compareWithRebuild(doubled, next.parts)).toMatchObject({ different: 0 })
})

test('a process that takes over what is kept beside goes on where it was, and readers see it all the time', async () => {
  await using the = await fixture()
  await fill(the, 10)
  const old = the.makeProcess('old').run((parts) => runProjection(tallies, parts))
  await live(old)
  await using reader = await connectOld(the)
  const [first, second] = [the.makeProcess('first'), the.makeProcess('second')]
  first.run((parts) => runProjection(doubled, parts))
  await soon(async () => expect(await total(the)).toBe(20))
  const waiting = second.run((parts) => runProjection(doubled, parts))
  await soon(() => expect(checkConsumer(waiting)).toMatchObject({ ok: true }))

  await first.stop()
  await the.append(11, raised())

  await soon(async () => expect([await reader.total(), await total(the)]).toEqual([11, 22]))
  expect(second.lines.map(({ msg }) => msg)).not.toContain('projection is being rebuilt')
})
