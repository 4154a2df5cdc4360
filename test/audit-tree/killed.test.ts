import { fork, type ChildProcess } from 'node:child_process'
import { randomInt, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { sql } from '#infra/postgres/postgres.ts'
import type { Moment } from './consumer-process.ts'
import { newStream } from '../event-log/events.ts'
import { auditFixture, eventOf, organisations } from './fixture.ts'

type Fixture = Awaited<ReturnType<typeof auditFixture>>

const running = new Set<ChildProcess>()
afterEach(() => {
  for (const child of running) child.kill('SIGKILL')
})

const startProcess = (the: Fixture) => {
  const child = fork(new URL('consumer-process.ts', import.meta.url), {
    env: {
      PATH: process.env['PATH'],
      BASE_URL: 'https://audit.test',
      MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
      AUDIT_KEY: Buffer.alloc(32, 2).toString('base64'),
      DATABASE_URL: the.url,
    },
  })
  running.add(child)
  const said = new Set<string>()
  child.on('message', (word) => {
    if (typeof word === 'string') said.add(word)
  })
  const ended = once(child, 'exit')
  const hears = async (word: string) => {
    while (!said.has(word))
      await Promise.race([
        once(child, 'message'),
        ended.then(([code, signal]) => {
          throw new Error(`The process has ended: ${String(code)} ${String(signal)}`)
        }),
      ])
  }
  return {
    hears,
    ended,
    killAt: async (moment: Moment) => {
      child.send(moment)
      await hears('armed')
    },
    kill: () => child.kill('SIGKILL'),
  }
}

const notesOf = async (the: Fixture): Promise<readonly string[]> => {
  const { rows } = await the.pool.query<{ note: string }>(sql`select note from audit_checkpoint`)
  return rows.map(({ note }) => note)
}

/** What is read, written and signed for some events takes fewer statements than this. */
const statements = 18
const moments = Array.from({ length: statements }, (_, statement): Moment[] => [
  { statement, isAfter: false },
  { statement, isAfter: true },
]).flat()

/** Each run takes other moments, an eighth of them, in turn from one that is drawn: on a busy machine each takes seconds. */
const share = 8
const drawn = randomInt(share)
const taken = moments.filter((_, place) => place % share === drawn)

test(
  'whenever one of two processes is killed between two statements, every event is taken in once, and nothing signed is signed otherwise',
  { timeout: 300_000 },
  async () => {
    await using the = await auditFixture()
    const [one, two] = organisations
    let first = startProcess(the)
    await first.hears('signing')
    let second = startProcess(the)
    const seen = new Set<string>()
    let appended = 0
    for (const [round, moment] of taken.entries()) {
      await second.hears('started')
      await first.killAt(moment)
      for (const [organisation, count] of [
        [one, 7],
        [round % 2 === 0 ? randomUUID() : two, 90],
        [null, 1],
      ] as const) {
        const events = Array.from({ length: count }, () => eventOf(organisation))
        await the.log.append(newStream(), 'any', events)
        appended += count
      }
      expect({ moment, ended: await first.ended }).toEqual({ moment, ended: [null, 'SIGKILL'] })
      for (const note of await notesOf(the)) seen.add(note)
      first = second
      second = startProcess(the)
      await first.hears('signing')
    }
    await the.untilSigned(appended)

    first.kill()
    second.kill()
    await Promise.all([first.ended, second.ended])
    const kept = new Set(await notesOf(the))
    expect([...seen].filter((note) => !kept.has(note))).toEqual([])
    const verified = { leaves: appended, waiting: 0, checkpoints: kept.size, findings: [] }
    expect({ taken, ...(await the.verify()) }).toMatchObject({ taken, ...verified })
  },
)
