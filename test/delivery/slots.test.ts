import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { allotSlots, type Candidate, type Taken } from '../../delivery-worker/endpoints/slots.ts'
import { recently } from '../../delivery-worker/sending/recently.ts'

const endpoint = (organisation_id: string, number: number, standing: Candidate['standing'] = 'closed'): Candidate => ({
  organisation_id,
  connection_id: `${organisation_id} ${number}`,
  standing,
})
const endpoints = (organisation: string, count: number, standing: Candidate['standing'] = 'closed') =>
  Array.from({ length: count }, (_, number) => endpoint(organisation, number, standing))
const sending = (candidates: readonly Candidate[], isSlow = false): Taken[] =>
  candidates.map((each) => ({ ...each, isSlow }))
/** A connection that ends so many sends within a second. */
const quick = () => 1_000
const roomsOf = (candidates: readonly Candidate[], taken: readonly Taken[] = [], slots = 32, lately = quick) => {
  const allotted = allotSlots(candidates, taken, slots, lately)
  return (organisation: string) =>
    allotted.filter(({ organisation_id }) => organisation_id === organisation).reduce((sum, { room }) => sum + room, 0)
}

describe('of 32 slots', () => {
  test('an organisation alone has three quarters of those for proven connections, so that the next finds one', () => {
    const rooms = roomsOf(endpoints('a', 100))

    expect(rooms('a')).toBe(18)
    expect(roomsOf([...endpoints('b', 1), ...endpoints('a', 100)], sending(endpoints('a', 18)))('b')).toBe(4)
  })

  test('one connection beside others has at most half of those for proven connections', () => {
    for (const other of [endpoint('a', 2), endpoint('b', 1)])
      for (const { room } of allotSlots([endpoint('a', 1), other], [], 32, quick)) expect(room).toBeLessThanOrEqual(12)
  })

  test('one proven connection has nearly all while no other has anything due', () => {
    const lone = endpoint('a', 1)

    expect(roomsOf([lone])('a')).toBe(28)
    expect(roomsOf([lone], sending(Array.from({ length: 20 }, () => lone)))('a')).toBe(8)
    expect(roomsOf([lone], sending(endpoints('b', 10)))('a')).toBe(18)
    expect(roomsOf([lone, ...endpoints('b', 100, 'open')])('a')).toBe(22)
    expect(roomsOf([lone], [], 4)('a')).toBe(3)
  })

  test('one that ends few sends within a second is lent no more than those', () => {
    const lone = endpoint('a', 1)
    const taken = sending(Array.from({ length: 10 }, () => lone))

    expect(roomsOf([lone], [], 32, () => 20)('a')).toBe(20)
    expect(roomsOf([lone], taken, 32, () => 20)('a')).toBe(10)
    expect(roomsOf([lone], [], 32, () => 0)('a')).toBe(12)
  })

  test.each([false, true])('what one connection was lent takes no slot from another, if it hangs, too: %s', (hangs) => {
    const lone = endpoint('a', 1)
    const lent = sending(
      Array.from({ length: 28 }, () => lone),
      hangs,
    )
    const regular = sending(
      Array.from({ length: 12 }, () => lone),
      hangs,
    )

    for (const next of [endpoint('b', 1), endpoint('a', 2), endpoint('b', 1, 'new'), endpoint('a', 2, 'open')]) {
      const due = [lone, next]
      const roomOfNext = (taken: readonly Taken[]) =>
        allotSlots(due, taken, 32, quick).find(({ connection_id }) => connection_id === next.connection_id)?.room
      expect(roomOfNext(lent)).toBe(roomOfNext(regular))
      expect(roomOfNext(lent)).toBeGreaterThan(0)
    }
  })

  test('a new connection begins with two, and one in trouble has its probe', () => {
    expect(roomsOf(endpoints('a', 1, 'new'))('a')).toBe(2)
    expect(roomsOf(endpoints('a', 1, 'open'))('a')).toBe(1)
    expect(roomsOf(endpoints('a', 1, 'half_open'))('a')).toBe(1)
    expect(roomsOf(endpoints('a', 1, 'open'), sending(endpoints('a', 1, 'open')))('a')).toBe(0)
  })

  test('one that succeeds slowly has a small share, of the slots for connections that are not proven', () => {
    expect(roomsOf(endpoints('a', 1, 'slow'))('a')).toBe(4)
    expect(roomsOf(endpoints('a', 1, 'slow'), sending(endpoints('a', 1, 'slow'), true))('a')).toBe(3)
    expect(roomsOf(endpoints('a', 1000, 'slow'))('a')).toBe(6)
  })

  test('new and troubled connections have a quarter together, one organisation three quarters of that', () => {
    const rooms = roomsOf([...endpoints('a', 500, 'new'), ...endpoints('b', 500, 'open'), ...endpoints('c', 9, 'new')])

    expect(rooms('a') + rooms('b') + rooms('c')).toBeLessThanOrEqual(8)
    for (const organisation of ['a', 'b', 'c']) expect(rooms(organisation)).toBeGreaterThanOrEqual(2)
    expect(roomsOf(endpoints('a', 1000, 'open'))('a')).toBe(6)
  })

  test('a thousand troubled connections of one organisation take nothing from the proven ones of another', () => {
    const troubled = sending(endpoints('a', 6, 'open'))

    expect(roomsOf([...endpoints('a', 1000, 'open'), ...endpoints('b', 2)], troubled)('b')).toBe(
      roomsOf(endpoints('b', 2))('b'),
    )
  })

  test('two organisations have equal parts, however many connections each has', () => {
    const rooms = roomsOf([...endpoints('a', 200), ...endpoints('b', 2)])

    expect(rooms('a')).toBe(rooms('b'))
    expect(rooms('a')).toBeGreaterThanOrEqual(10)
  })

  test('what turned out slow takes no slot from others, but keeps its organisation from more', () => {
    const slow = sending(endpoints('a', 18), true)
    const rooms = roomsOf([...endpoints('a', 100), ...endpoints('b', 100)], slow)

    expect(rooms('a')).toBe(0)
    expect(rooms('b')).toBe(18)
  })
})

const anyCandidates = fc
  .array(
    fc.record({
      organisation_id: fc.constantFrom('a', 'b', 'c', 'd'),
      number: fc.integer({ min: 0, max: 20 }),
      standing: fc.constantFrom('new', 'closed', 'slow', 'open', 'half_open'),
    }),
    { maxLength: 60 },
  )
  .map((all) =>
    [...new Map(all.map((each) => [`${each.organisation_id} ${each.number}`, each])).entries()].map(
      ([connection_id, { organisation_id, standing }]) => ({ organisation_id, connection_id, standing }),
    ),
  )

test('whatever is due, a worker never gives more slots than it has, and never none while all are free', () => {
  fc.assert(
    fc.property(anyCandidates, fc.integer({ min: 4, max: 64 }), (candidates, slots) => {
      const allotted = allotSlots(candidates, [], slots, quick)
      const given = allotted.reduce((sum, { room }) => sum + room, 0)
      const unproven = allotted.filter(({ standing }) => standing !== 'closed').reduce((sum, { room }) => sum + room, 0)

      expect(given).toBeLessThanOrEqual(slots)
      expect(unproven).toBeLessThanOrEqual(slots / 4)
      expect(given > 0).toBe(candidates.length > 0)
    }),
  )
})

test('what ended lately is what ended within the present second or within the one before', () => {
  let nowMs = 0
  const ended = recently(() => nowMs)
  for (const key of ['a', 'a', 'b']) ended.add(key)
  expect([ended.of('a'), ended.of('b'), ended.of('c')]).toEqual([2, 1, 0])

  nowMs = 1_999
  ended.add('b')
  expect([ended.of('a'), ended.of('b')]).toEqual([2, 1])

  nowMs = 2_999
  expect([ended.of('a'), ended.of('b')]).toEqual([0, 1])
  nowMs = 5_000
  expect(ended.of('b')).toBe(0)
})
