import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { allot, type Candidate, type Taken } from '../../delivery-worker/places.ts'

const endpoint = (organisation_id: string, number: number, standing: Candidate['standing'] = 'closed'): Candidate => ({
  organisation_id,
  connection_id: `${organisation_id} ${number}`,
  standing,
})
const endpoints = (organisation: string, count: number, standing: Candidate['standing'] = 'closed') =>
  Array.from({ length: count }, (_, number) => endpoint(organisation, number, standing))
const sending = (candidates: readonly Candidate[], isSlow = false): Taken[] =>
  candidates.map((each) => ({ ...each, isSlow }))
const roomsOf = (candidates: readonly Candidate[], taken: readonly Taken[] = [], places = 32) => {
  const allotted = allot(candidates, taken, places)
  return (organisation: string) =>
    allotted.filter(({ organisation_id }) => organisation_id === organisation).reduce((sum, { room }) => sum + room, 0)
}

describe('of 32 places', () => {
  test('an organisation alone has three quarters of those for proven connections, so that the next finds one', () => {
    const rooms = roomsOf(endpoints('a', 100))

    expect(rooms('a')).toBe(18)
    expect(roomsOf(endpoints('b', 1), sending(endpoints('a', 18)))('b')).toBe(4)
  })

  test('one connection has at most half of those for proven connections', () => {
    expect(roomsOf(endpoints('a', 1))('a')).toBe(12)
  })

  test('a new connection begins with two, and one in trouble has its probe', () => {
    expect(roomsOf(endpoints('a', 1, 'new'))('a')).toBe(2)
    expect(roomsOf(endpoints('a', 1, 'open'))('a')).toBe(1)
    expect(roomsOf(endpoints('a', 1, 'half_open'))('a')).toBe(1)
    expect(roomsOf(endpoints('a', 1, 'open'), sending(endpoints('a', 1, 'open')))('a')).toBe(0)
  })

  test('one that succeeds slowly has a small share, of the places for connections that are not proven', () => {
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

    expect(roomsOf([...endpoints('a', 1000, 'open'), endpoint('b', 1)], troubled)('b')).toBe(
      roomsOf([endpoint('b', 1)])('b'),
    )
  })

  test('two organisations have equal parts, however many connections each has', () => {
    const rooms = roomsOf([...endpoints('a', 200), ...endpoints('b', 2)])

    expect(rooms('a')).toBe(rooms('b'))
    expect(rooms('a')).toBeGreaterThanOrEqual(10)
  })

  test('what turned out slow takes no place from others, but keeps its organisation from more', () => {
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

test('whatever is due, a worker never gives more places than it has, and never none while all are free', () => {
  fc.assert(
    fc.property(anyCandidates, fc.integer({ min: 4, max: 64 }), (candidates, places) => {
      const allotted = allot(candidates, [], places)
      const given = allotted.reduce((sum, { room }) => sum + room, 0)
      const unproven = allotted.filter(({ standing }) => standing !== 'closed').reduce((sum, { room }) => sum + room, 0)

      expect(given).toBeLessThanOrEqual(places)
      expect(unproven).toBeLessThanOrEqual(places / 4)
      expect(given > 0).toBe(candidates.length > 0)
    }),
  )
})
