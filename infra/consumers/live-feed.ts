import { categoryOf, type Position, type RecordedEvent } from '#domain/event.ts'
import { beyond, type Batch, type EventLog, type Subscription } from '../event-log/event-log.ts'
import { notifier } from '../notifier.ts'

type Wanted = Pick<Subscription, 'categories' | 'types' | 'isAwaited'>

/** A subscriber of the feed, and the events that wait for it. */
type Member = {
  readonly wanted: Wanted
  readonly passes: (event: RecordedEvent, category: string) => boolean
  readonly arrived: ReturnType<typeof notifier>
  readonly waiting: { readonly event: RecordedEvent; readonly bytes: number }[]
  bytes: number
  /** Up to here everything wanted was handed over. */
  position: Position
  caughtUp: boolean
  /** Something was handed over that was not taken yet, if only a new position. */
  hasNews: boolean
  /** It has a new position that it need not take at once, since nothing of its categories happened. */
  hasMoved: boolean
  isOver: boolean
  error?: Error
}

type Membership = {
  /** Everything wanted after this is handed over. */
  readonly from: Position
  /** Waits for the next events. Undefined: the subscriber was too slow for the feed, or has left. */
  readonly next: (atMost: number) => Promise<Batch | undefined>
  readonly isOver: () => boolean
  readonly leave: () => void
}

type Options = {
  /** The bytes of events that may wait for one subscriber; a slower one reads from the log separately. */
  readonly waitingBytes?: number
}

/**
 * A log whose subscriptions share one live subscription of this process, to all events that any of them wants. A
 * subscription that is behind reads from the log separately until it has caught up.
 */
export const withLiveFeed = (log: EventLog, { waitingBytes = 8_000_000 }: Options = {}): EventLog => {
  const join = liveFeed(log, waitingBytes)
  return { ...log, subscribe: (subscription) => subscribed(log, join, subscription) }
}

async function* subscribed(
  log: EventLog,
  join: ReturnType<typeof liveFeed>,
  subscription: Subscription,
): AsyncGenerator<Batch> {
  const { signal, batchSize = 1_000 } = subscription
  let position = subscription.after
  let caughtUp = false
  let membership: Membership | undefined
  const isOver = () => signal.aborted
  const leave = () => {
    membership?.leave()
    membership = undefined
  }
  const endMembership = () => membership?.leave()
  signal.addEventListener('abort', endMembership)

  try {
    while (!isOver()) {
      const ending = new AbortController()
      const own = {
        ...subscription,
        signal: AbortSignal.any([signal, ending.signal]),
        ...(position && { after: position }),
      }
      for await (const given of log.subscribe(own)) {
        const batch = beyond(position, given)
        ;({ position, caughtUp } = batch)
        yield batch
        if (isOver()) return
        if (membership?.isOver()) leave()
        // The feed may be ahead: what it hands over from now on waits until this one has read as far.
        if (batch.caughtUp) membership ??= join(subscription, position)
        if (membership && position >= membership.from) break
      }
      ending.abort()
      // The log was closed.
      if (!membership) return

      for (let given = await membership.next(batchSize); given; given = await membership.next(batchSize)) {
        // Even if it brings nothing else, that all has been read is said once.
        const isFirstToSay = given.position === position && given.caughtUp && !caughtUp
        if (given.position <= (position ?? '') && !isFirstToSay) continue
        const batch = beyond(position, given)
        ;({ position, caughtUp } = batch)
        yield batch
      }
      leave()
    }
  } finally {
    signal.removeEventListener('abort', endMembership)
    leave()
  }
}

// Past events of other categories, the position of a member moves so much later.
const moveAfterMs = 250

/** The one live subscription, open as long as it has members. */
const liveFeed = (log: EventLog, waitingBytes: number) => {
  const members = new Set<Member>()
  let running: { readonly ending: AbortController; readonly wanted: Wanted } | undefined
  /** Up to here everything was handed over that the members want. */
  let position = '' as Position
  let caughtUp = false
  let isMoving = false

  /** Moves later, so that one capability's writing costs nothing in the consumers of all others. */
  const moveLater = () => {
    if (isMoving || ![...members].some(({ hasMoved }) => hasMoved)) return
    isMoving = true
    setTimeout(() => {
      isMoving = false
      for (const member of members) if (member.hasMoved) tell(member)
    }, moveAfterMs).unref()
  }

  const run = async (wanted: Wanted, { signal }: AbortController) => {
    try {
      for await (const given of log.subscribe({ ...wanted, after: position, signal })) {
        if (signal.aborted) return
        const batch = beyond(position, given)
        ;({ position, caughtUp } = batch)
        const events = batch.events.map(described)
        const happened = new Set(events.map(({ category }) => category))
        for (const member of members) hand(member, { ...batch, events, happened }, waitingBytes)
        moveLater()
      }
      endAll(signal)
    } catch (error) {
      endAll(signal, error)
    }
  }

  /** Subscribes to all that the members want, from where the feed is. */
  const open = () => {
    running?.ending.abort()
    const ending = new AbortController()
    const wanted = union([...members].map((member) => member.wanted))
    running = { ending, wanted }
    caughtUp = false
    void run(wanted, ending)
  }

  const endAll = (signal: AbortSignal, cause?: unknown) => {
    if (signal.aborted) return
    running = undefined
    for (const member of members) end(member, cause && new Error('The log cannot be followed.', { cause }))
  }

  const leave = (member: Member) => {
    end(member)
    members.delete(member)
    if (members.size > 0) return
    running?.ending.abort()
    running = undefined
  }

  /** `reached` is where the subscriber is: it has read all that there was. */
  return (wanted: Wanted, reached: Position): Membership => {
    if (!running) position = reached
    const isCaughtUp = caughtUp && running !== undefined && includes(running.wanted, wanted)
    const member: Member = {
      wanted,
      passes: passes(wanted),
      arrived: notifier(),
      waiting: [],
      bytes: 0,
      position,
      caughtUp: isCaughtUp,
      hasNews: isCaughtUp,
      hasMoved: false,
      isOver: false,
    }
    members.add(member)
    if (!running || !includes(running.wanted, wanted)) open()
    return {
      from: position,
      next: (atMost) => nextOf(member, atMost),
      isOver: () => member.isOver,
      leave: () => leave(member),
    }
  }
}

/** The union of all subscriptions, by categories only: the position also moves past unwanted types of these categories. */
const union = (all: readonly Wanted[]): Wanted => {
  const categories = all.flatMap((wanted) => wanted.categories ?? [])
  return all.every((wanted) => wanted.categories) ? { categories: [...new Set(categories)] } : {}
}

const includes = (wider: Wanted, { categories }: Wanted): boolean =>
  !wider.categories || (categories?.every((category) => wider.categories?.includes(category)) ?? false)

const passes = ({ categories, types }: Wanted): Member['passes'] => {
  const ofCategory = categories && new Set(categories)
  const ofType = types && new Set(types)
  return ({ type }, category) => (ofCategory?.has(category) ?? true) && (ofType?.has(type) ?? true)
}

const described = (event: RecordedEvent) => ({
  event,
  category: categoryOf(event.stream),
  bytes: overheadBytes + bytesOf(event.data),
})

// Ids, metadata and what JavaScript adds.
const overheadBytes = 1_000

/** Roughly what a JSON value takes in memory. */
const bytesOf = (value: unknown): number => {
  if (typeof value === 'string') return 16 + 2 * value.length
  if (typeof value !== 'object' || value === null) return 8
  let bytes = 32
  for (const [key, part] of Object.entries(value)) bytes += key.length + bytesOf(part)
  return bytes
}

type Handed = Pick<Batch, 'position' | 'caughtUp'> & {
  readonly events: readonly ReturnType<typeof described>[]
  /** The categories of the events. */
  readonly happened: ReadonlySet<string>
}

const hand = (member: Member, { events, happened, position, caughtUp }: Handed, waitingBytes: number) => {
  if (member.isOver) return
  const { categories, isAwaited = true } = member.wanted
  const isConcerned = categories?.some((category) => happened.has(category)) ?? true
  const own = isConcerned ? events.filter(({ event, category }) => member.passes(event, category)) : []
  // Somebody may wait until it has passed an event of its category, also of a type that it does not want.
  if (member.caughtUp === caughtUp && own.length === 0 && !(isConcerned && isAwaited)) {
    member.position = position
    member.hasMoved = true
    return
  }
  const bytes = own.reduce((sum, each) => sum + each.bytes, member.bytes)
  // A single batch is always taken, however large: its events are in memory already.
  if (bytes > waitingBytes && member.waiting.length > 0) return end(member)
  member.waiting.push(...own)
  member.bytes = bytes
  member.position = position
  member.caughtUp = caughtUp
  tell(member)
}

const tell = (member: Member) => {
  member.hasNews = true
  member.hasMoved = false
  member.arrived.notify()
}

const end = (member: Member, error?: unknown) => {
  if (member.isOver) return
  Object.assign(member, { isOver: true, ...(error !== undefined && { error }) })
  member.arrived.notify()
}

const nextOf = async (member: Member, atMost: number): Promise<Batch | undefined> => {
  while (!member.hasNews && !member.isOver) await member.arrived.wait()
  if (!member.hasNews) {
    if (member.error) throw member.error
    return undefined
  }
  const taken = member.waiting.splice(0, atMost)
  const events = taken.map(({ event }) => event)
  const isAll = member.waiting.length === 0
  member.bytes = isAll ? 0 : taken.reduce((left, { bytes }) => left - bytes, member.bytes)
  member.hasNews = !isAll
  return {
    events,
    position: isAll ? member.position : (events.at(-1)?.position ?? member.position),
    caughtUp: isAll && member.caughtUp && !member.isOver,
  }
}
