import { expect, test } from 'vitest'
import { makeBodyRoom } from '#infra/http/body-room.ts'

const from = (ip: string) => ({ ip, socket: {} as never }) // the address is that of the proxy's header
const inRoom = makeBodyRoom({ bytes: 10, bytesOfAddress: 6, withinMs: 60_000 })
const never = () => new Promise<never>(() => undefined)
const held = (ip: string, bytes: number) =>
  inRoom(from(ip), async (take) => {
    take(bytes)
    return 'taken'
  })

test('a body has its room until the work with it has ended', async () => {
  const open = Promise.withResolvers<void>()
  const first = inRoom(from('192.0.2.1'), async (take) => {
    take(6)
    await open.promise
  })

  await expect(held('192.0.2.1', 1)).rejects.toMatchObject({ code: 'unavailable', headers: { 'Retry-After': '5' } })
  expect(await held('192.0.2.2', 4)).toBe('taken')
  await expect(held('192.0.2.3', 6)).rejects.toMatchObject({ code: 'unavailable' })
  open.resolve()
  await first
  expect(await held('192.0.2.1', 6)).toBe('taken')
})

test('work that fails gives its room back', async () => {
  const failing = inRoom(from('192.0.2.4'), async (take) => {
    take(6)
    throw new Error('cut short')
  })

  await expect(failing).rejects.toThrow('cut short')
  expect(await held('192.0.2.4', 6)).toBe('taken')
})

test('a body that does not come in time is refused, gives its room back and takes no more', async () => {
  const inShortRoom = makeBodyRoom({ bytes: 10, bytesOfAddress: 10, withinMs: 1 })
  let takeLater: (bytes: number) => void = () => undefined
  const slow = inShortRoom(from('192.0.2.5'), (take) => {
    take(10)
    takeLater = take
    return never()
  })

  await expect(slow).rejects.toMatchObject({ code: 'unavailable', headers: { Connection: 'close' } })
  expect(() => takeLater(1)).toThrow('too late')
  expect(await inShortRoom(from('192.0.2.6'), async (take) => take(10))).toBeUndefined()
})

test('who holds the most gives way to whoever has less, and the oldest of its bodies first', async () => {
  const inOne = makeBodyRoom({ bytes: 10, bytesOfAddress: 6, withinMs: 60_000 })
  const slow = (ip: string, bytes: number) =>
    inOne(from(ip), (take) => {
      take(bytes)
      return never()
    })
  const [oldest, newer, other] = [slow('192.0.2.7', 3), slow('192.0.2.7', 3), slow('192.0.2.8', 4)]

  await expect(slow('192.0.2.8', 2)).rejects.toMatchObject({ code: 'unavailable' })
  expect(await inOne(from('192.0.2.9'), async (take) => take(2))).toBeUndefined()
  await expect(oldest).rejects.toMatchObject({ code: 'unavailable', headers: { Connection: 'close' } })
  const stillReceived = Promise.resolve('both are still received')
  expect(await Promise.race([newer, other, stillReceived])).toBe('both are still received')
})
