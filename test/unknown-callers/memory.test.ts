import { fork, type ChildProcess } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 240_000 })

const megabyte = 2 ** 20
const mostGrowth = 64 * megabyte

type Started = { readonly port: number; readonly organisation_id: string }

let child: ChildProcess
let started: Started
beforeAll(async () => {
  // With little room for what is new, what the process takes says what it keeps.
  const execArgv = ['--expose-gc', '--max-semi-space-size=2']
  // What was read and given up goes back to the system at once, and is not counted.
  const env = { ...process.env, MALLOC_MMAP_THRESHOLD_: '32768' }
  child = fork(new URL('process.ts', import.meta.url), { execArgv, env })
  const ended = once(child, 'exit').then(() => expect.fail('The process has ended.'))
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [Started]
  started = message
  // Its code and buffers take what they need for any load at all, in steps, and then no more.
  for (let [before, round] = [0, 0]; ; round++) {
    await postAll(10_000)
    const now = await memory()
    if (now - before < mostGrowth / 8) break
    if (round === 6) expect.fail('It grows with each round of the same.')
    before = now
  }
})
afterAll(async () => {
  child.disconnect()
  await once(child, 'exit')
})

const memory = async (): Promise<number> => {
  const answered = once(child, 'message') as Promise<[number]>
  child.send('measure')
  return (await answered)[0]
}

const post = async (agent: Agent, path: string, headers: Readonly<Record<string, string>> = {}): Promise<number> => {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const about = { agent, method: 'POST', host: '127.0.0.1', port: started.port, path }
  const sending = request({ ...about, headers: { 'content-length': '2', ...headers } }, (response) => {
    response.resume().once('end', () => resolve(response.statusCode ?? 0))
  })
  sending.once('error', reject).end('{}')
  return promise
}

const webhooks = '/api/v1/webhooks'
/** Addresses that name nothing: random text, and ids that nobody has. */
const addresses = [
  () => `${webhooks}/stripe/${randomBytes(3_500).toString('hex')}`,
  () => `${webhooks}/stripe/${randomUUID()}`,
  () => `${webhooks}/messages/${randomBytes(3_500).toString('hex')}`,
  () => `${webhooks}/messages/${randomUUID()}`,
  () => `${webhooks}/integrations/custom_http/${randomBytes(3_500).toString('hex')}`,
  () => `${webhooks}/integrations/custom_http/${randomUUID()}`,
]

/** Posts from ever other addresses to ever other addresses of ours. */
const postAll = async (count: number): Promise<ReadonlySet<number>> => {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const statuses = new Set<number>()
  let next = 0
  const work = async (): Promise<void> => {
    while (next < count) {
      const index = next++
      const from = `2001:db8:${(index % 65_536).toString(16)}:${(index >> 4).toString(16)}::1`
      const path = addresses[index % addresses.length]?.() ?? ''
      statuses.add(await post(agent, path, { 'x-forwarded-for': from }))
    }
  }
  await Promise.all(Array.from({ length: 16 }, work))
  agent.destroy()
  return statuses
}

test('30,000 webhook addresses that name nothing take no memory', async () => {
  const before = await memory()

  const statuses = await postAll(30_000)

  expect(statuses).toEqual(new Set([403, 404]))
  expect((await memory()) - before).toBeLessThan(mostGrowth)
})

/** Sends all of a body but its last byte, until it was taken or refused. */
const openBody = async (path: string, header: string, from: string): Promise<Socket> => {
  const socket = connect(started.port, '127.0.0.1')
  const { promise, resolve } = Promise.withResolvers<Socket>()
  const done = () => resolve(socket)
  socket.on('error', done).once('data', done).once('close', done)
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${megabyte}\r\nX-Forwarded-For: ${from}\r\n`)
  socket.write(`${header}\r\n\r\n`)
  socket.write(body, done)
  return promise
}
const body = Buffer.alloc(megabyte - 1, ' ')

test.each([
  ['to an address that names nothing', () => `${webhooks}/stripe/${randomUUID()}`, true],
  ['without a signature', () => `${webhooks}/stripe/${started.organisation_id}`, false],
  ['with a signature that is wrong', () => `${webhooks}/stripe/${started.organisation_id}`, true],
  ['for a token', () => '/oauth/token', false],
])('600 bodies of 1 MB that never end take no memory: %s', async (_what, pathOf, isSigned) => {
  const seconds = Math.floor(Date.now() / 1_000)
  const signed = `stripe-signature: t=${seconds},v1=${'0'.repeat(64)}`
  const header = isSigned ? signed : 'Content-Type: application/x-www-form-urlencoded'
  const before = await memory()

  const sockets = await Promise.all(
    Array.from({ length: 600 }, async (_, index) => openBody(pathOf(), header, `2001:db8:0:${index.toString(16)}::1`)),
  )

  expect((await memory()) - before).toBeLessThan(mostGrowth)
  for (const socket of sockets) socket.destroy()
})
