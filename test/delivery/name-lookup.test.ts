import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isLocalName, lookUpName } from '#infra/name-lookup.ts'

const records: Readonly<Record<string, { readonly a?: readonly number[]; readonly aaaa?: readonly number[] }>> = {
  'both.example': { a: [93, 184, 215, 14], aaaa: [0x26, 0x06, 0x28, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] },
  'four.example': { a: [93, 184, 215, 14] },
}

let server: Socket
let servers: readonly string[]
const asked: string[] = []

/** Answers from the records above; of names below hanging.example it never says anything. */
beforeAll(async () => {
  server = createSocket('udp4').on('message', (question, { port, address }) => {
    const labels: string[] = []
    let at = 12
    for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
      labels.push(question.subarray(at + 1, at + 1 + length).toString())
      at += 1 + length
    }
    const name = labels.join('.').toLowerCase()
    asked.push(name)
    if (name.endsWith('hanging.example')) return
    const type = question.readUInt16BE(at + 1)
    const found = type === 1 ? records[name]?.a : records[name]?.aaaa
    const head = Buffer.from(question.subarray(0, 12))
    head.writeUInt16BE(name in records ? 0x8180 : 0x8183, 2)
    head.writeUInt16BE(found ? 1 : 0, 6)
    head.writeUInt32BE(0, 8)
    const asking = question.subarray(12, at + 5)
    const answer = found ? [0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 1, 0, found.length, ...found] : []
    server.send(Buffer.concat([head, asking, Buffer.from(answer)]), port, address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  servers = [`127.0.0.1:${server.address().port}`]
})
afterAll(() => server.close())

test('names whose servers never answer hold up no other name', async () => {
  let ended = 0
  for (let index = 0; index < 20; index++)
    void lookUpName(`${index}.hanging.example`, { servers })
      .catch(() => undefined)
      .finally(() => ended++)
  await expect.poll(() => new Set(asked).size, { timeout: 60_000 }).toBe(20)

  const found = await lookUpName('both.example', { servers })

  expect(ended).toBe(0)
  expect(found).toEqual([
    { address: '93.184.215.14', family: 4 },
    { address: '2606:2800::1', family: 6 },
  ])
}, 30_000)

test('a question that is not answered has an end', async () => {
  const asking = lookUpName('any.hanging.example', { servers, askingMs: 50 })

  await expect(asking).rejects.toMatchObject({ code: 'ETIMEOUT' })
})

test('a name has the addresses of either kind that it has', async () => {
  expect(await lookUpName('four.example', { servers })).toEqual([{ address: '93.184.215.14', family: 4 }])
  await expect(lookUpName('gone.example', { servers })).rejects.toMatchObject({ code: 'ENOTFOUND' })
})

test.each([
  ['localhost', true],
  ['a.LOCALHOST.', true],
  ['receiver', true],
  ['crm.example.com', false],
  ['notlocalhost.com', false],
])('%s is a name of the own network: %s', (name, isLocal) => {
  expect(isLocalName(name)).toBe(isLocal)
})
