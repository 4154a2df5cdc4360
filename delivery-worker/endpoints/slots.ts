import { takeTurns } from '#infra/turns.ts'

/**
 * A connection that has something due. `new`: nothing was ever sent over it. `slow`: it takes what is sent, but slowly.
 * `open`, `half_open`: it is failing.
 */
export type Candidate = {
  readonly organisation_id: string
  readonly connection_id: string
  readonly standing: 'new' | 'closed' | 'slow' | 'open' | 'half_open'
  /** It has a rate, or a number of deliveries at once, of its own. */
  readonly limited?: boolean
  /** It is disabled when it fails for too long. */
  readonly watched?: boolean
}

/** A slot in which something is being sent. */
export type Taken = Candidate & {
  /** It takes so long that its connection counts as failing. */
  readonly isSlow: boolean
}

export type Allotted = Candidate & { readonly room: number }

/** The slots of a new connection, of one that succeeds slowly, and of a failing one for its probe. */
const roomOfNew = 2
const roomOfSlow = 4
const roomOfTroubled = 1

/** An organisation may take so many times the slots that are then left free. */
const share = 3

/** The slots kept free when one connection alone has all others: one part of so many. */
const partKeptFree = 8

/**
 * Shares the slots of a worker: first by organisation, then by connection, in the order of the candidates.
 *
 * - Connections that are new, slow or failing have a quarter of the slots together, all others the rest.
 * - In each part an organisation may take three times the slots that are left free. So one alone has three quarters,
 *   several have equal parts, and the next one finds a slot.
 * - What turns out slow while it is sent no longer takes a slot from other organisations, but still from its own. A
 *   worker never sends more at the same time than twice its slots.
 * - While only one proven connection has anything due, it is lent nearly all slots that are free, as far as it has lately
 *   ended as many sends within a second: more would only wait longer. What it was lent takes no slot from another, so
 *   that whoever comes next finds as many as ever, even if all that was lent hangs.
 */
export const allotSlots = (
  candidates: readonly Candidate[],
  taken: readonly Taken[],
  slots: number,
  endedLately: (connection_id: string) => number = () => 0,
): Allotted[] => {
  const ofUnproven = Math.max(1, Math.floor(slots / 4))
  const ofProven = Math.max(1, slots - ofUnproven)
  const parts = [
    { size: ofProven, holds: isProven, taken: withoutLent(taken.filter(isProven), ofProven) },
    { size: ofUnproven, holds: isUnproven, taken: taken.filter(isUnproven) },
  ]
  let left = 2 * slots - taken.length
  const allotted = parts.flatMap((part) => {
    const ofPart = allotPart(candidates.filter(part.holds), part.taken, part.size, left)
    left -= roomsOf(ofPart)
    return ofPart
  })
  const [lone, ...others] = candidates.filter(isProven)
  if (!lone || others.length > 0) return allotted
  const isOfLone = ({ connection_id }: Candidate) => connection_id === lone.connection_id
  const room = roomsOf(allotted.filter(isOfLone))
  const free = slots - Math.ceil(slots / partKeptFree) - taken.length - roomsOf(allotted)
  const lent = Math.min(free, endedLately(lone.connection_id) - taken.filter(isOfLone).length - room)
  if (lent <= 0) return allotted
  return [{ ...lone, room: room + lent }, ...allotted.filter((each) => !isOfLone(each))]
}

const isProven = ({ standing }: Candidate): boolean => standing === 'closed'
const isUnproven = (each: Candidate): boolean => !isProven(each)

const roomsOf = (allotted: readonly Allotted[]): number => allotted.reduce((sum, { room }) => sum + room, 0)

/** Slots of proven connections beyond their rooms were lent to them. Quick sends count first. */
const withoutLent = (taken: readonly Taken[], size: number): readonly Taken[] => {
  const counted = counter([])
  return taken
    .toSorted((one, other) => Number(one.isSlow) - Number(other.isSlow))
    .filter((each) => {
      counted.add(each.connection_id)
      return counted.of(each.connection_id) <= roomOf(each, size)
    })
}

const allotPart = (
  candidates: readonly Candidate[],
  taken: readonly Taken[],
  size: number,
  atMost: number,
): Allotted[] => {
  const ofConnection = counter(taken.map(({ connection_id }) => connection_id))
  const ofOrganisation = counter(taken.map(({ organisation_id }) => organisation_id))
  const quick = taken.filter((each) => !each.isSlow || !isProven(each))
  const quickOfOrganisation = counter(quick.map(({ organisation_id }) => organisation_id))
  const rooms = counter([])
  let used = quick.length

  const mayHaveMore = (organisation: string): boolean => {
    const mine = ofOrganisation.of(organisation)
    const others = used - quickOfOrganisation.of(organisation)
    return mine === 0 || mine + 1 <= share * (size - others - mine - 1)
  }

  const give = ({ connection_id, organisation_id }: Candidate): void => {
    for (const [counted, key] of [
      [ofConnection, connection_id],
      [ofOrganisation, organisation_id],
      [quickOfOrganisation, organisation_id],
      [rooms, connection_id],
    ] as const)
      counted.add(key)
    used++
  }

  const byOrganisation = Map.groupBy(candidates, ({ organisation_id }) => organisation_id)
  const giveOneOf = (organisation: string): Candidate | undefined => {
    if (!mayHaveMore(organisation)) return undefined
    const own = byOrganisation.get(organisation) ?? []
    const next = fewest(
      own.filter((each) => ofConnection.of(each.connection_id) < roomOf(each, size)),
      (each) => ofConnection.of(each.connection_id),
    )
    if (next) give(next)
    return next
  }
  takeTurns(new Set(byOrganisation.keys()), giveOneOf, Math.min(size - used, atMost))
  return candidates.flatMap((each) => {
    const room = rooms.of(each.connection_id)
    return room === 0 ? [] : [{ ...each, room }]
  })
}

const roomOf = ({ standing }: Candidate, size: number): number => {
  if (standing === 'new') return roomOfNew
  if (standing === 'slow') return roomOfSlow
  return standing === 'closed' ? Math.ceil(size / 2) : roomOfTroubled
}

const counter = (keys: readonly string[]) => {
  const counts = new Map<string, number>()
  const add = (key: string): void => {
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  for (const key of keys) add(key)
  return { add, of: (key: string): number => counts.get(key) ?? 0 }
}

const fewest = <Each>(all: readonly Each[], count: (each: Each) => number): Each | undefined => {
  let found: Each | undefined
  for (const each of all) if (found === undefined || count(each) < count(found)) found = each
  return found
}
