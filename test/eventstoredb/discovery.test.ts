import { expect, test } from 'vitest'
import { LogUnavailable } from '#infra/event-log/event-log.ts'
import { eventStoreDbLog } from '#infra/event-log/eventstoredb/eventstoredb-log.ts'
import { appended, newEvents, newStream } from '../event-log/events.ts'
import { startCluster } from './cluster.ts'
import type { Member } from './gossip.ts'
import { certificatePath, startEventStoreDb } from './server.ts'

// How the leader of a cluster is found.

const logAt = (url: string) => {
  const log = eventStoreDbLog(url, { attemptMs: 1_000, wholeMs: 2_000 })
  return { ...log, [Symbol.asyncDispose]: log.close }
}

test('the leader is found behind a DNS name of all nodes', async () => {
  await using cluster = await startCluster()
  cluster.elect(1)
  await using log = logAt(`esdb+discover://localhost:${cluster.nodes[0]?.port}?tls=false`)

  await appended(log, newStream(), newEvents(1))

  expect(cluster.nodes.map(({ appends }) => appends())).toEqual([0, 1, 0])
})

test('behind a DNS name the certificate must be good for the name', async () => {
  const members: Member[] = []
  await using server = await startEventStoreDb({ certificate: 'server', members: () => members })
  members.push({ address: '127.0.0.1', port: server.port, isLeader: true })
  const authority = `tlsCAFile=${encodeURIComponent(certificatePath('ca.crt'))}`
  await using log = logAt(`esdb+discover://localhost:${server.port}?${authority}`)

  expect(await appended(log, newStream(), newEvents(1))).toMatchObject({ revision: 0 })
})

test('the leader is found although a node hangs and another is down', async () => {
  await using cluster = await startCluster()
  cluster.elect(2)
  cluster.nodes[0]?.freeze()
  await cluster.nodes[1]?.stop()
  await using log = logAt(cluster.url)

  expect(await appended(log, newStream(), newEvents(1))).toMatchObject({ revision: 0 })
})

test('a name that cannot be looked up is waited for: its server may not have started', async () => {
  await using log = logAt('esdb+discover://nowhere.invalid?tls=false')

  const head = log.head()

  await expect(head).rejects.toBeInstanceOf(LogUnavailable)
  await expect(head).rejects.toThrow('nowhere.invalid cannot be looked up')
})
