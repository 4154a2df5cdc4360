import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { sign } from '../../delivery-worker/webhooks/sign.ts'

const folder = join(import.meta.dirname, '..', '..', 'docs', 'receivers')
const vector = z
  .object({ secret: z.string(), now: z.number(), body: z.string(), signature: z.string() })
  .parse(JSON.parse(await readFile(join(folder, 'vector.json'), 'utf8')))

const isPresent = (command: string, ...args: readonly string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore' }).status === 0

/** How the receiver of each language is run; undefined where its language is not on this machine. */
const languages = [
  {
    name: 'Node',
    command: [process.execPath, join(folder, 'receiver.mjs')],
    here: true,
  },
  {
    name: 'Python',
    command: ['python3', join(folder, 'receiver.py')],
    here: isPresent('python3', '--version'),
  },
  {
    name: 'Java',
    command: ['java', join(folder, 'Receiver.java')],
    here: isPresent('java', '--version'),
  },
] as const

test('the test vector of the documentation is what the service signs', async () => {
  const page = await readFile(join(folder, '..', 'webhooks.md'), 'utf8')

  expect(sign(vector.secret, vector.body, new Date(vector.now * 1000))).toBe(vector.signature)
  for (const value of [vector.secret, String(vector.now), vector.body, vector.signature])
    expect(page).toContain(`\`${value}\``)
})

/** Java compiles it first. */
const startMs = 60_000

describe.each(languages)('the receiver in $name', ({ name, command, here }) => {
  const why = here ? '' : ` (SKIPPED: no ${name} was found on this machine)`
  let child: ChildProcess | undefined
  let address = ''

  beforeAll(async () => {
    if (!here) return
    const [program, ...args] = command
    const env = { ...process.env, SIGNING_SECRET: vector.secret, FIXED_NOW: String(vector.now), PORT: '0' }
    child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer]
    address = `http://127.0.0.1:${/\d+$/.exec(line.toString().trim())?.[0] ?? ''}/hooks`
  }, startMs)

  afterAll(async () => {
    if (child) {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    }
  })

  const send = async (key: string, signature: string | undefined, body = vector.body) => {
    const response = await fetch(address, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'idempotency-key': key,
        ...(signature !== undefined && { 'x-service-signature': signature }),
      },
      body,
    })
    return { status: response.status, work: await response.text() }
  }
  const signedAt = (seconds: number, body = vector.body) => sign(vector.secret, body, new Date(seconds * 1000))
  const [, t = '', v1 = ''] = /t=(\d+),v1=(\w+)/.exec(vector.signature) ?? []

  test.skipIf(!here)(`takes what is genuine, and skips a repeat${why}`, async () => {
    const first = await send('one', vector.signature)
    const repeated = await send('one', signedAt(vector.now + 40))
    const other = await send('two', vector.signature)

    expect([first, repeated, other]).toEqual([
      { status: 200, work: '1' },
      { status: 200, work: '1' },
      { status: 200, work: '2' },
    ])
  })

  test.skipIf(!here).each([
    ['no signature', undefined],
    ['an empty one', ''],
    ['one without a time', `v1=${v1}`],
    ['one without a signature', `t=${t}`],
    ['another secret', sign('another secret', vector.body, new Date(vector.now * 1000))],
    ['another body', signedAt(vector.now, `${vector.body} `)],
    ['another time', `t=${vector.now + 1},v1=${v1}`],
    ['upper case', `t=${t},v1=${v1.toUpperCase()}`],
    ['a time that is more than 5 minutes old', signedAt(vector.now - 301)],
    ['a time that is more than 5 minutes ahead', signedAt(vector.now + 301)],
    ['a time that is no number', `t=0x${t},v1=${v1}`],
  ])(`refuses %s${why}`, async (_what, signature) => {
    expect(await send('refused', signature)).toMatchObject({ status: 403 })
  })

  test.skipIf(!here).each([
    ['5 minutes ago', signedAt(vector.now - 300)],
    ['in 5 minutes', signedAt(vector.now + 300)],
    ['with parts that it does not know', `v0=aa,t=${t},v1=${v1},v2=b=c`],
    ['in another order', `v1=${v1},t=${t}`],
  ])(`takes one that was signed %s${why}`, async (what, signature) => {
    expect(await send(what, signature)).toMatchObject({ status: 200 })
  })
})
