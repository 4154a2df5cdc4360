import { expect, test, vi } from 'vitest'
import { sql } from '#infra/postgres/postgres.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { contextOf, runReactions } from '../../command-api/reactions/reaction.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import { barrier, fixture, raised, soon, tallyId, type Fixture } from '../projections/fixture.ts'
import { mirrorEventsOf, valuesOf, whenTallyRaisedSetMirror, writerOn } from './fixture.ts'

const name = 'when-tally-raised-set-mirror'

const reacting = (the: Fixture, processName: string, log: EventLog = the.eventLog, leases?: object) => {
  const process = the.makeProcess(processName, log)
  const [running] = runReactions([whenTallyRaisedSetMirror(writerOn(log))], { ...process.parts, ...leases })
  if (!running) throw new Error('There is one reaction.')
  process.run(() => running)
  return { ...process, running }
}

/** Every process gets every lease, as if none had noticed that another has taken over. */
const grantedToAll = () => ({
  leases: { take: async () => ({ signal: new AbortController().signal, release: async () => undefined }) },
})

const firstRaised = async ({ eventLog }: Fixture) => {
  const [first] = await eventLog.read(`tally-${tallyId(1)}`)
  if (!first) throw new Error('There is one.')
  return first
}

const positionOf = async ({ pool }: Fixture) => {
  const { rows } = await pool.query<{ position: string | null }>(
    sql`select position from consumer_checkpoint where name = ${name}`,
  )
  return rows[0]?.position
}

test('of two processes that both believe to hold the lease, the slower one does not undo what the faster one wrote', async () => {
  await using the = await fixture()
  await the.append(1, raised(10), raised(20))
  const [reached, released, answered] = [barrier(), barrier(), barrier()]
  const stalling: EventLog = {
    ...the.eventLog,
    append: async (...append) => {
      reached.open()
      await released.passed
      try {
        return await the.eventLog.append(...append)
      } finally {
        answered.open()
      }
    },
  }
  const slow = reacting(the, 'slow', stalling, grantedToAll())
  await reached.passed

  const fast = reacting(the, 'fast', the.eventLog, grantedToAll())
  await soon(() => expect(fast.running.status().state).toBe('live'))
  expect(await valuesOf(the, tallyId(1))).toEqual([10, 20])
  released.open()
  await answered.passed
  await soon(() => expect(slow.running.status().state).toBe('live'))
  await slow.stop()

  expect(await valuesOf(the, tallyId(1))).toEqual([10, 20])
})

test('a process that was killed in the middle of a batch repeats it, and what it wrote stays as it is', async () => {
  await using the = await fixture()
  const amounts = Array.from({ length: 90 }, (_, index) => raised(1 + (index % 3)))
  await the.append(1, ...amounts)
  const killed = reacting(the, 'killed')
  await soon(() => expect(killed.running.status().state).toBe('live'))
  await killed.stop()
  const before = await mirrorEventsOf(the, tallyId(1))
  await the.pool.query(sql`update consumer_checkpoint set position = null where name = ${name}`)

  const next = reacting(the, 'next')
  await soon(() => expect(next.running.status().state).toBe('live'))
  await next.stop()

  expect(await positionOf(the)).toEqual(expect.any(String))
  expect(before).toHaveLength(90)
  expect(await mirrorEventsOf(the, tallyId(1))).toEqual(before)
})

test('what a reaction appends has ids that follow from its cause, and names the cause', async () => {
  await using the = await fixture()
  await the.append(1, raised(10))
  await the.append(2, raised(10))
  const first = reacting(the, 'first', the.eventLog, grantedToAll())
  await soon(() => expect(first.running.status().state).toBe('live'))

  const causes = await the.eventLog.read(`tally-${tallyId(1)}`)
  const [written] = await mirrorEventsOf(the, tallyId(1))
  const [other] = await mirrorEventsOf(the, tallyId(2))

  expect(written?.metadata).toMatchObject({
    causation_id: causes[0]?.id,
    cause: { reaction: name, stream: `tally-${tallyId(1)}`, position: causes[0]?.position },
  })
  expect(written?.id).toMatch(/^[\da-f]{8}-[\da-f]{4}-5/)
  expect(other?.id).not.toBe(written?.id)
})

test('a process whose lease has ended appends nothing more', async () => {
  await using the = await fixture()
  await the.append(1, raised(10))
  const cause = await firstRaised(the)
  const lease = new AbortController()
  const reaction = whenTallyRaisedSetMirror(writerOn(the.eventLog))

  lease.abort(new Error('the lease has ended'))

  const context = contextOf(reaction, cause, lease.signal)
  await expect(reaction.react({ type: 'TallyRaised', by: 10 }, cause, context)).rejects.toThrow('the lease has ended')
  expect(await mirrorEventsOf(the, tallyId(1))).toEqual([])
})

test('a reaction writes to the stream that it has declared, and to no other', async () => {
  await using the = await fixture()
  await the.append(1, raised(10))
  const cause = await firstRaised(the)
  const reaction = whenTallyRaisedSetMirror(writerOn(the.eventLog))

  const context = { ...contextOf(reaction, cause, new AbortController().signal) }
  const elsewhere = whenTallyRaisedSetMirror(writerOn(the.eventLog), { mirrorOf: () => tallyId(2) })

  await expect(elsewhere.react({ type: 'TallyRaised', by: 10 }, cause, context)).rejects.toThrow('has not declared')
  expect(await mirrorEventsOf(the, tallyId(2))).toEqual([])
})

test('a reaction without a target writes anywhere while it has its lease, tells why, and waits for no read model', async () => {
  await using the = await fixture()
  await the.append(1, raised(10))
  const cause = await firstRaised(the)
  const seen = vi.fn<() => Promise<void>>()
  const writer = makeWriter({ log: the.eventLog, seen })
  const { target: _target, ...reaction } = whenTallyRaisedSetMirror(writer, { mirrorOf: () => tallyId(2) })
  const lease = new AbortController()
  const context = contextOf(reaction, cause, lease.signal)

  await reaction.react({ type: 'TallyRaised', by: 10 }, cause, context)
  await reaction.react({ type: 'TallyRaised', by: 20 }, cause, context)
  lease.abort(new Error('the lease has ended'))
  await expect(reaction.react({ type: 'TallyRaised', by: 30 }, cause, context)).rejects.toThrow('the lease has ended')

  expect(await valuesOf(the, tallyId(2))).toEqual([10, 20])
  const [written] = await mirrorEventsOf(the, tallyId(2))
  expect(written?.metadata.causation_id).toBe(cause.id)
  expect(written?.metadata).not.toHaveProperty('cause')
  expect(seen).not.toHaveBeenCalled()
})
