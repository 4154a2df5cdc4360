import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { status } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { LogUnavailable, type EventLog } from '#infra/event-log/event-log.ts'
import { eventStoreDbLog } from '#infra/event-log/eventstoredb/eventstoredb-log.ts'
import { route } from '#infra/http/route.ts'
import { appended, batchesOf, eventsIn, eventually, idsOf, newEvents, newStream } from '../event-log/events.ts'
import { serve } from '../serve.ts'
import { notReady } from './behaviour.ts'
import { startCluster } from './cluster.ts'
import { startEventStoreDb } from './server.ts'

// What becomes of calls and subscriptions while servers are away, silent, not ready or no longer the leader.

const impatient = { attemptMs: 400, wholeMs: 800, silenceMs: 100 }

const logAt = (url: string, limits: Parameters<typeof eventStoreDbLog>[1] = impatient) => {
  const log = eventStoreDbLog(url, limits)
  return { ...log, [Symbol.asyncDispose]: log.close }
}

const everyCall = (log: EventLog): readonly (() => Promise<unknown>)[] => [
  () => log.append(newStream(), 'no_stream', newEvents(1)),
  () => log.read(newStream()),
  () => log.readAll(),
  () => log.head(),
]

const isAskedForTheLeader = async ({ nodes }: Awaited<ReturnType<typeof startCluster>>) => {
  const asked = () => nodes.reduce((sum, { gossips }) => sum + gossips(), 0)
  const before = asked()
  await eventually(async () => asked() > before, 'a question for the leader')
}

test('a process outlives a cluster without a quorum, and goes on when there is one again', async () => {
  await using cluster = await startCluster()
  const child = spawn(process.execPath, [new URL('writer.ts', import.meta.url).pathname, cluster.url])
  const seen: string[] = []
  createInterface(child.stdout).on('line', (line) => seen.push(line))
  createInterface(child.stderr).on('line', (line) => seen.push(`stderr: ${line}`))
  const ended = once(child, 'exit')
  const isSeen = (line: string) =>
    eventually(async () => {
      if (child.exitCode !== null) throw new Error(seen.join('\n'))
      return seen.includes(line)
    }, line)
  await isSeen('followed')

  cluster.elect(undefined)
  // What is lost while the leader is looked for is lost with a connection that was left already.
  await isAskedForTheLeader(cluster)
  await Promise.all(cluster.nodes.map(({ dropConnections }) => dropConnections()))
  for (let round = 0; round < 3; round += 1) {
    seen.length = 0
    await isSeen('unavailable')
  }
  cluster.elect(1)

  seen.length = 0
  await isSeen('appended')
  await isSeen('followed')
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
})

test('a follower names the leader, to which the next attempt goes at once', async () => {
  await using cluster = await startCluster()
  cluster.elect(2)
  await using log = logAt(`esdb://127.0.0.1:${cluster.nodes[0]?.port}?tls=false`)

  await appended(log, newStream(), newEvents(1))

  expect(cluster.nodes.map(({ appends }) => appends())).toEqual([1, 0, 1])
})

test('after a leader was lost the next one is found with few attempts', async () => {
  await using cluster = await startCluster()
  await using log = logAt(cluster.url, {})
  await appended(log, newStream(), newEvents(1))
  cluster.elect(undefined)
  await cluster.nodes[0]?.stop()

  const events = newEvents(2)
  const stream = newStream()
  const appending = appended(log, stream, events)
  await isAskedForTheLeader(cluster)
  cluster.elect(1)
  await appending

  expect(idsOf(await log.read(stream))).toEqual(idsOf(events))
  expect(cluster.nodes.map(({ appends }) => appends())).toEqual([1, 1, 0])
})

test('a leader that no longer answers is left for the next one', async () => {
  await using cluster = await startCluster()
  await using log = logAt(cluster.url, { attemptMs: 400 })
  await appended(log, newStream(), newEvents(1))
  cluster.nodes[0]?.freeze()

  const events = newEvents(2)
  const stream = newStream()
  const appending = appended(log, stream, events)
  cluster.elect(1)
  await appending

  expect(idsOf(await log.read(stream))).toEqual(idsOf(events))
  expect(cluster.nodes[1]?.appends()).toBe(1)
})

test('a leader that was silent is used again when it answers for itself', async () => {
  await using cluster = await startCluster()
  await using log = logAt(cluster.url, { attemptMs: 400 })
  await appended(log, newStream(), newEvents(1))
  cluster.nodes[0]?.freeze()

  const appending = appended(log, newStream(), newEvents(1))
  await isAskedForTheLeader(cluster)
  cluster.nodes[0]?.thaw()

  expect(await appending).toMatchObject({ revision: 0 })
})

test('a server that accepts and never answers makes every call fail as unavailable', async () => {
  await using server = await startEventStoreDb()
  await using log = logAt(server.url)
  await using patient = logAt(server.url, {})
  server.freeze()

  await Promise.all(everyCall(log).map((call) => expect(call()).rejects.toBeInstanceOf(LogUnavailable)))
  server.thaw()

  await Promise.all(everyCall(patient).map((call) => call()))
})

test('503: a server that never answers, and one that is down', async () => {
  await using server = await startEventStoreDb()
  await using log = logAt(server.url)
  const spec = {
    method: 'post',
    address: '/written',
    tag: 'Test',
    summary: 'Write an event.',
    access: { kind: 'public' },
    answers: { 201: z.object({}) },
    errors: ['unavailable'],
  } as const
  const write = route(spec, async () => {
    await appended(log, newStream(), newEvents(1))
    return { status: 201, body: {} }
  })
  await using api = await serve([write])
  const before = await api.post('/written', {})
  server.freeze()
  const frozen = await api.post('/written', {})
  server.thaw()
  await server.stop()
  const down = await api.post('/written', {})

  expect(before.status).toBe(201)
  for (const { status: answered, headers, body } of [frozen, down]) {
    expect(answered).toBe(503)
    expect(headers.get('retry-after')).toBe('1')
    expect(body).toMatchObject({ error: { code: 'unavailable' } })
  }
})

test('a read that stops halfway fails as unavailable', async () => {
  await using server = await startEventStoreDb()
  await using log = logAt(server.url)
  await using patient = logAt(server.url, {})
  const stream = newStream()
  await appended(patient, stream, newEvents(100))
  const reading = log.read(stream)
  await eventually(async () => server.messagesSent() > 0, 'the first event')
  server.freeze()

  // All may have been sent before.
  await reading.catch((error: unknown) => expect(error).toBeInstanceOf(LogUnavailable))
  await expect(log.read(stream)).rejects.toBeInstanceOf(LogUnavailable)
})

test('a server that is down makes every call fail as unavailable, and says why', async () => {
  await using server = await startEventStoreDb()
  await using log = logAt(server.url)
  await server.stop()

  for (const call of everyCall(log)) await expect(call()).rejects.toBeInstanceOf(LogUnavailable)
  await expect(log.head()).rejects.toThrow(`EventStoreDB at 127.0.0.1:${server.port}: 14 UNAVAILABLE`)
})

test('a server that is not ready is waited for', async () => {
  await using server = await startEventStoreDb()
  await using log = logAt(server.url, {})
  server.refuseAll(notReady)
  const appending = appended(log, newStream(), newEvents(1))
  await eventually(async () => server.appends() > 1, 'a second attempt')

  server.refuseAll()

  expect(await appending).toMatchObject({ revision: 0 })
})

test('no more appends wait than there may', async () => {
  await using server = await startEventStoreDb()
  await using log = logAt(server.url, { ...impatient, appendsMaximum: 2 })
  server.freeze()
  const waiting = [1, 2].map(() => log.append(newStream(), 'any', newEvents(1)))

  await expect(log.append(newStream(), 'any', newEvents(1))).rejects.toThrow('2 appends wait')

  server.thaw()
  await Promise.all(waiting)
})

test('the log says since when it cannot be read, until it can', async () => {
  await using server = await startEventStoreDb()
  await using log = logAt(server.url)
  await log.head()
  const before = log.outage()
  await server.dropConnections()
  server.refuseAll(notReady)

  await expect(log.head()).rejects.toBeInstanceOf(LogUnavailable)
  const first = log.outage()
  await expect(log.head()).rejects.toBeInstanceOf(LogUnavailable)
  const later = log.outage()
  server.refuseAll()
  await log.head()

  expect(before).toBeUndefined()
  expect(first?.reason).toContain('Server Is Not Ready')
  expect(later?.since).toEqual(first?.since)
  expect(log.outage()).toBeUndefined()
})

type Trouble = {
  readonly what: string
  readonly isOutage?: boolean
  readonly begin: (server: Awaited<ReturnType<typeof startEventStoreDb>>) => void
  readonly end?: (server: Awaited<ReturnType<typeof startEventStoreDb>>) => void
}

const tooSlow = { code: status.ABORTED, details: 'Operation timed out' }

test.each<Trouble>([
  { what: 'is dropped because it was too slow', begin: (server) => server.dropSubscriptions(tooSlow) },
  { what: 'is forgotten by its server', begin: (server) => server.muteSubscriptions() },
  {
    what: 'has a connection on which nothing arrives any more',
    isOutage: true,
    begin: (server) => server.freeze(),
    end: (server) => server.thaw(),
  },
  {
    what: 'has a server that is not ready',
    isOutage: true,
    begin: (server) => {
      server.refuseAll(notReady)
      server.dropSubscriptions(notReady)
    },
    end: (server) => server.refuseAll(),
  },
])('a subscription that $what goes on without a gap or a repeat', async ({ isOutage, begin, end }) => {
  await using server = await startEventStoreDb()
  await using log = logAt(server.url)
  await using other = logAt(server.url, {})
  const events = newEvents(6)
  const stream = newStream()
  let step = 0

  const batches = await batchesOf(log, {}, async (taken) => {
    const count = eventsIn(taken).length
    if (step === 0 && taken.at(-1)?.caughtUp) {
      step = 1
      await appended(other, stream, events.slice(0, 3))
    } else if (step === 1 && count === 3) {
      step = 2
      begin(server)
      const goOn = async () => {
        if (isOutage) await eventually(async () => log.outage() !== undefined, 'an outage')
        end?.(server)
        await appended(other, stream, events.slice(3))
      }
      void goOn()
    }
    return count >= events.length
  })

  expect(idsOf(eventsIn(batches))).toEqual(idsOf(events))
  await eventually(async () => log.outage() === undefined, 'the end of the outage')
})
