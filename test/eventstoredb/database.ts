/** What EventStoreDB keeps of an event. Its record lies between `position` and `end` in the transaction file. */
export type StoredEvent = {
  readonly stream: string
  readonly revision: number
  readonly id: string
  readonly type: string
  readonly isJson: boolean
  readonly data: Uint8Array
  readonly metadata: Uint8Array
  readonly created: Date
  readonly position: number
  readonly end: number
}

export type ProposedEvent = Pick<StoredEvent, 'id' | 'type' | 'isJson' | 'data' | 'metadata'>

export type Expectation = 'any' | 'stream_exists' | 'no_stream' | number

export type Written =
  | { readonly outcome: 'written'; readonly revision: number; readonly position: number | undefined }
  | { readonly outcome: 'wrong_expected_version'; readonly revision: number | undefined }

/** A transaction file in memory, with the rules by which EventStoreDB 24.10 writes and repeats. */
export type Database = {
  readonly append: (stream: string, expected: Expectation, events: readonly ProposedEvent[]) => Written
  readonly stream: (stream: string) => readonly StoredEvent[]
  readonly all: readonly StoredEvent[]
  /** The place in `all` of the first event at or after a position. */
  readonly indexAt: (position: number) => number
  /** Whether a record begins or ends there. From anywhere else nothing can be read. */
  readonly isPlace: (position: number) => boolean
  /** Reports every event from now on, until the returned function is called. */
  readonly watch: (notify: (event: StoredEvent) => void) => () => void
}

const recordHeader = 68

export type DatabaseOptions = {
  /** Events of the server's own among those of its users, as a running one has them. */
  readonly systemEvents: boolean
  /** Whether a repeated append is answered with its position. A server may not find it. */
  readonly positionsOfRepeats: boolean
}

export const makeDatabase = ({ systemEvents, positionsOfRepeats }: DatabaseOptions): Database => {
  const all: StoredEvent[] = []
  const streams = new Map<string, StoredEvent[]>()
  const watchers = new Set<(event: StoredEvent) => void>()
  const places = new Map<string, { stream: string; revision: number }>()
  // The file begins with a record that is no event.
  let end = 143

  const stream = (name: string) => streams.get(name) ?? []

  const write = (name: string, { id, type, isJson, data, metadata }: ProposedEvent): StoredEvent => {
    const earlier = streams.get(name) ?? []
    const event = { stream: name, revision: earlier.length, id, type, isJson, data, metadata, created: new Date() }
    const size = recordHeader + Buffer.byteLength(name) + Buffer.byteLength(type) + data.length + metadata.length
    const stored = { ...event, position: end, end: end + size }
    end += size
    streams.set(name, earlier)
    earlier.push(stored)
    all.push(stored)
    places.set(id, { stream: name, revision: stored.revision })
    for (const notify of watchers) notify(stored)
    return stored
  }

  /** What the projection `$by_category` would write. */
  const writeLink = ({ stream: name, revision }: StoredEvent) => {
    const data = Buffer.from(`${revision}@${name}`)
    const link = { id: crypto.randomUUID(), type: '$>', isJson: false, data, metadata: new Uint8Array() }
    write(`$ce-${name.slice(0, name.indexOf('-'))}`, link)
  }

  const append = (name: string, expected: Expectation, events: readonly ProposedEvent[]): Written => {
    const ids = events.map(({ id }) => id)
    const current = stream(name).length - 1
    const decision = isExact(expected)
      ? checkExact(stream(name), expected === 'no_stream' ? -1 : expected, ids)
      : checkLoose(
          stream(name),
          expected,
          (id) => (places.get(id)?.stream === name ? places.get(id)?.revision : undefined),
          ids,
        )

    if (decision === 'conflict') return { outcome: 'wrong_expected_version', revision: orNone(current) }
    if (decision !== 'write') {
      const position = positionsOfRepeats ? decision.position : undefined
      return { outcome: 'written', revision: decision.revision, position }
    }

    // A record that is no event, as the server writes now and then: positions have gaps.
    end += 17
    const written = events.map((event) => write(name, event))
    if (systemEvents) written.forEach(writeLink)
    return { outcome: 'written', revision: current + events.length, position: written.at(-1)?.position }
  }

  const indexAt = (position: number) => {
    let [low, high] = [0, all.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((all[middle]?.position ?? Infinity) < position) low = middle + 1
      else high = middle
    }
    return low
  }

  if (systemEvents) {
    const settings = { id: crypto.randomUUID(), type: '$UserCreated', isJson: true, data: Buffer.from('{}') }
    write('$user-admin', { ...settings, metadata: new Uint8Array() })
  }

  return {
    append,
    stream,
    all,
    indexAt,
    isPlace: (position) => {
      const index = indexAt(position)
      return position === 0 || position >= end || all[index]?.position === position || all[index - 1]?.end === position
    },
    watch: (notify) => {
      watchers.add(notify)
      return () => watchers.delete(notify)
    },
  }
}

/** To write; to refuse; or nothing to do, since these very events stand there already. */
type Decision = 'write' | 'conflict' | { readonly revision: number; readonly position: number | undefined }

const isExact = (expected: Expectation): expected is 'no_stream' | number =>
  expected === 'no_stream' || typeof expected === 'number'

const orNone = (revision: number) => (revision < 0 ? undefined : revision)

/** With an exact expectation a repeat is known by the events at its place in the stream, however late it comes. */
const checkExact = (stream: readonly StoredEvent[], expected: number, ids: readonly string[]): Decision => {
  const current = stream.length - 1
  if (expected === current) return 'write'
  if (expected > current || ids.length === 0) return 'conflict'
  const isRepeat = ids.every((id, index) => stream[expected + 1 + index]?.id === id)
  if (!isRepeat) return 'conflict'
  return { revision: expected + ids.length, position: stream[expected + ids.length]?.position }
}

/** Without one, a repeat is known by the ids alone, as far as the server remembers them: here for ever. */
const checkLoose = (
  stream: readonly StoredEvent[],
  expected: 'any' | 'stream_exists',
  revisionOf: (id: string) => number | undefined,
  ids: readonly string[],
): Decision => {
  if (expected === 'stream_exists' && stream.length === 0) return 'conflict'
  const revisions = ids.map(revisionOf)
  if (revisions[0] === undefined) return 'write'
  const last = revisions.at(-1)
  if (last === undefined || revisions.includes(undefined)) return 'conflict'
  return { revision: last, position: stream[last]?.position }
}
