import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client'
import { afterEach, expect, test, vi } from 'vitest'
import { dockerAnswers } from './docker.ts'
import { startEventStoreDb } from './server.ts'
import { eventStoreDbTarget } from './target.ts'

afterEach(() => vi.unstubAllEnvs())

test('the server of EVENTSTOREDB_URL is used when there is one, by a way that can be cut', async () => {
  await using server = await startEventStoreDb()
  vi.stubEnv('EVENTSTOREDB_URL', server.url)

  await using target = await eventStoreDbTarget()

  const direct = EventStoreDBClient.connectionString(server.url)
  const cuttable = EventStoreDBClient.connectionString(target.url)
  await cuttable.appendToStream('target-1', jsonEvent({ type: 'Asked', data: {} }))
  const subscription = cuttable.subscribeToAll()
  const lost = new Promise<Error>((resolve) => subscription.on('error', resolve))
  await new Promise<void>((resolve) => subscription.on('confirmation', resolve))
  await target.dropConnections()

  expect(target.kind).toBe('given')
  expect((await lost).message).toContain('UNAVAILABLE')
  expect(await Array.fromAsync(direct.readStream('target-1'))).toHaveLength(1)
  await Promise.all([direct.dispose(), cuttable.dispose()])
})

test.each(['esdb+discover://one:2113', 'esdb://one:2113,two:2113'])('%s cannot be tested against', async (url) => {
  vi.stubEnv('EVENTSTOREDB_URL', url)

  await expect(eventStoreDbTarget()).rejects.toThrow('a single server')
})

test('Docker is there when its daemon answers, and not when nobody listens', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coverstream-docker-'))
  const socket = join(directory, 'docker.sock')
  vi.stubEnv('DOCKER_HOST', `unix://${socket}`)
  const before = await dockerAnswers()
  const daemon = createServer((request, response) => response.writeHead(request.url === '/_ping' ? 200 : 404).end())
  daemon.listen(socket)
  await once(daemon, 'listening')

  const during = await dockerAnswers()

  daemon.close()
  await rm(directory, { recursive: true })
  expect({ before, during }).toEqual({ before: false, during: true })
})
