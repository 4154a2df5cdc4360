import { once } from 'node:events'
import { Agent, createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { testDatabase } from '../database.ts'
import { freePort, startServiceProcess } from './service-process.ts'

const operatorKey = 'an operator key for tests'
const headers = { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' }

/** A receiver that takes what is sent and never answers. */
const silentReceiver = async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: once(server, 'request'),
    [Symbol.asyncDispose]: async () => {
      const closed = once(server.close(), 'close')
      server.closeAllConnections()
      await closed
    },
  }
}

test(
  'all roles in one process stop in time while a receiver hangs and somebody keeps a connection open',
  { timeout: 300_000 },
  async () => {
    await using database = await testDatabase()
    await using receiver = await silentReceiver()
    const dataDir = await mkdtemp(join(tmpdir(), 'coverstream-stop-'))
    const port = await freePort()
    const service = startServiceProcess({
      dataDir,
      port,
      environment: {
        DATABASE_URL: database.url,
        ENVIRONMENT: 'production',
        OPERATOR_KEY: operatorKey,
        DELIVERY_ALLOWED_HOSTS: '127.0.0.1',
        DELIVERY_ALLOW_HTTP: 'true',
      },
    })
    const agent = new Agent({ keepAlive: true })
    try {
      await service.ready
      const post = async (path: string, body: unknown) => {
        const answer = await fetch(`http://127.0.0.1:${port}/admin/v1/organisations${path}`, {
          method: 'POST',
          headers,
          body: JSON.stringify(body),
        })
        return z.object({ data: z.object({ id: z.string().optional() }) }).parse(await answer.json()).data.id
      }
      const firm = await post('', { slug: 'firm', name: 'A firm' })
      const connections = `/${firm}/endpoint_connections`
      const connection = await post(connections, { name: 'silent', base_url: receiver.address })
      await post(`/${firm}/connections/${connection}/ping`, {})
      await receiver.asked
      const answer = await new Promise<IncomingMessage>((resolve) =>
        get({ port, path: '/health/live', agent }, resolve),
      )
      await once(answer.resume(), 'end')

      process.kill(service.pid, 'SIGTERM')

      expect(await service.ended).toEqual({ code: 0, signal: null })
    } finally {
      agent.destroy()
      await service.kill('family')
      await rm(dataDir, { recursive: true, force: true })
    }
  },
)
