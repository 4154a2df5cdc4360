import { expect, test } from 'vitest'
import { LeaseLost, underLease } from '#infra/consumers/required-lease.ts'
import { client, serverThat } from './guarded-http.ts'

test('a process that lost its lease while it waited for a connection sends nothing', async () => {
  let requests = 0
  await using receiver = await serverThat((_request, response) => {
    requests++
    response.end()
  })
  let isHeld = true
  await using http = client({
    allowedHosts: ['receiver.test'],
    lookup: async () => {
      isHeld = false
      return [{ address: '127.0.0.1', family: 4 }]
    },
  })
  const url = `http://receiver.test:${receiver.port}/`

  await expect(underLease({ isHeld: () => isHeld }, () => http.post(url))).rejects.toThrow(LeaseLost)
  await expect(underLease({ isHeld: () => isHeld }, () => http.post(url))).rejects.toThrow(LeaseLost)
  expect(requests).toBe(0)

  // What nobody else would do meanwhile needs no lease.
  expect(await http.post(url)).toMatchObject({ outcome: 'answered', status: 200 })
})

test('a request that is under way ends when its process has lost the lease: nobody is answered twice at once', async () => {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
  await using receiver = await serverThat((request) => {
    request.socket.once('close', () => end())
    arrive()
  })
  await using http = client({ allowedHosts: ['127.0.0.1'] })
  const lost: (() => void)[] = []
  const right = { isHeld: () => true, whenLost: (give: () => void) => lost.push(give) }

  const asked = underLease(right, () => http.post(`http://127.0.0.1:${receiver.port}/`))
  await arrived
  for (const give of lost) give()

  await expect(asked).rejects.toThrow(LeaseLost)
  await ended
})
