import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { startMessageGateway } from '../../stand-ins/message-gateway.ts'
import { startStandIn } from '../../stand-ins/stand-in.ts'

test('the gateway sends news again after 5xx, under the same id', async () => {
  const told: string[] = []
  const service = await startStandIn(({ text }) => {
    told.push(z.object({ id: z.string() }).parse(JSON.parse(text)).id)
    return { status: told.length === 1 ? 503 : 204, body: {} }
  })
  const gateway = await startMessageGateway(undefined, { url: service.url, secret: 'whsec' })

  await fetch(`${gateway.url}/messages`, {
    method: 'POST',
    headers: { authorization: 'Bearer key', 'idempotency-key': 'one', 'content-type': 'application/json' },
    body: JSON.stringify({
      channel: 'email',
      from: null,
      from_name: null,
      to: 'keen@example.com',
      subject: null,
      text: 'Shall we call you?',
      unsubscribe_url: 'https://firm.example/u',
      reference: 'one',
    }),
  })

  await vi.waitFor(() => expect(told).toHaveLength(2), 15_000)
  expect(new Set(told).size).toBe(1)
  await Promise.all([gateway.close(), service.close()])
})
