import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { setUpDemo } from '../../demo/demo.ts'

test('a set-up of the demo that was ended in the middle is completed by the next start, and never repeated after', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coverstream-demo-'))
  const organisations: object[] = []
  let setUps = 0
  // The first set-up comes as far as the organisation.
  const service = createServer((request, response) => {
    if (!request.url?.startsWith('/admin/v1/setup')) return void response.end(JSON.stringify({ data: organisations }))
    setUps++
    organisations.push({})
    if (setUps === 1) request.socket.destroy()
    else response.end('{}')
  })
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  const origin = `http://127.0.0.1:${(service.address() as AddressInfo).port}` // a TCP server that listens has such an address
  const start = () => setUpDemo(origin, 'key', {}, join(directory, 'unfinished'))

  await expect(start()).rejects.toThrow('fetch failed')
  await start()
  await start()

  expect(setUps).toBe(2)
  service.close()
  await rm(directory, { recursive: true, force: true })
})
