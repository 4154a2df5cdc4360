import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { makeSeats, type Seat } from '../../query-api/audit/as-of/seat.ts'

/** Each of another. */
const organisation = randomUUID

/** Seats that only count. */
const counted = () => {
  const made = { opened: 0, closed: 0, isUsable: true }
  const seats = makeSeats(2, async () => {
    made.opened++
    const close = async (): Promise<void> => {
      made.closed++
    }
    // Nothing else of it is asked for.
    return { isUsable: () => made.isUsable, close } as unknown as Seat
  })
  return { made, seats }
}

/** Takes a seat until it is told to leave. */
const sit = (seats: ReturnType<typeof makeSeats>, of: string = organisation()) => {
  const leaving = Promise.withResolvers<void>()
  const seated = Promise.withResolvers<void>()
  const left = seats.with(of, async () => {
    seated.resolve()
    await leaving.promise
  })
  return { left, seated: seated.promise, leave: leaving.resolve }
}

test('whoever finds no seat has the next that is free, in their order', async () => {
  const { made, seats } = counted()
  const [first, second] = [sit(seats), sit(seats)]
  await Promise.all([first.seated, second.seated])
  const [third, fourth] = [sit(seats), sit(seats)]

  first.leave()
  await third.seated
  second.leave()
  await fourth.seated
  third.leave()
  fourth.leave()
  await Promise.all([third.left, fourth.left])

  expect(made).toMatchObject({ opened: 2, closed: 0 })
  await seats.close()
  expect(made.closed).toBe(2)
})

test('more than twenty do not wait: 503 says so', async () => {
  const { seats } = counted()
  const seated = Array.from({ length: 2 + 20 }, () => sit(seats))

  await expect(seats.with(organisation(), async () => undefined)).rejects.toMatchObject({ code: 'unavailable' })

  for (const { leave } of seated) leave()
  await Promise.all(seated.map(({ left }) => left))
})

test('those of one organisation leave room for others', async () => {
  const { seats } = counted()
  const own = randomUUID()
  const seated = Array.from({ length: 5 }, () => sit(seats, own))

  await expect(seats.with(own, async () => undefined)).rejects.toMatchObject({ code: 'unavailable' })
  const other = sit(seats)

  for (const { leave } of [...seated, other]) leave()
  await Promise.all([...seated, other].map(({ left }) => left))
})

test('a seat that cannot be used any more is given up, and one that fails is left', async () => {
  const { made, seats } = counted()
  made.isUsable = false
  await expect(seats.with(organisation(), async () => Promise.reject(new Error('refused')))).rejects.toThrow('refused')
  await seats.with(organisation(), async () => undefined)
  await seats.with(organisation(), async () => undefined)
  expect(made).toMatchObject({ opened: 3, closed: 3 })
})
