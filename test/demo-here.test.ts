import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { listen } from '#infra/http/listen.ts'
import { isDemoHere } from '../demo/demo.ts'

/** Whether the demo is taken to be at a service that answers a request for a token of each application with a status. */
const seenAt = async (statuses: Readonly<Record<string, number>>): Promise<boolean> => {
  const service = await listen(
    (request, response) =>
      void text(request).then((form) => {
        const last = new URLSearchParams(form).get('client_id')?.at(-1) ?? ''
        response.writeHead(statuses[last] ?? 401).end()
      }),
    '127.0.0.1',
    0,
  )
  try {
    return await isDemoHere(`http://127.0.0.1:${service.port}`, 'https://api.example.com')
  } finally {
    await service.close()
  }
}

test('the demo is there as long as one of its published secrets is right, whatever else is refused', async () => {
  expect(await seenAt({})).toBe(false)
  expect(await seenAt({ 1: 200 })).toBe(true)
  expect(await seenAt({ 3: 200 })).toBe(true)
  expect(await seenAt({ 2: 400 })).toBe(true)
})

test('a service that cannot tell is not taken for one without the demo', async () => {
  await expect(seenAt({ 1: 503 })).rejects.toThrow('503')
})
