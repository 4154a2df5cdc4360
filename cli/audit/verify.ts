import type { Position, RecordedEvent } from '#domain/event.ts'
import type { Finding } from '#infra/audit-tree/kept-checkpoints.ts'
import { leafRecord } from '#infra/audit-tree/leaf-record.ts'
import { leafHash } from '#infra/audit-tree/merkle.ts'
import { appended, emptyEdge, hashBytes, tileWidth, type Edge, type Tiles } from '#infra/audit-tree/tiles.ts'
import { installation, readTiles } from '#infra/audit-tree/tree-rows.ts'
import { checkCheckpoints, headsOf, type CheckpointRow } from './verify-checkpoints.ts'
import {
  beyondTrees,
  leavesOf,
  readTrees,
  takenUpTo,
  wrongCategory,
  type LeafRow,
  type Reader,
  type TreeRow,
} from './verify-rows.ts'

export type Verified = {
  readonly logs: number
  readonly leaves: number
  readonly checkpoints: number
  /** Events at the end of the log that are not taken in yet. */
  readonly waiting: number
  readonly findings: readonly Finding[]
}

export type Verifying = {
  readonly db: Reader
  /** All events in the order of the log, in pages. */
  readonly events: AsyncIterable<readonly RecordedEvent[]>
  /** True where the events are in the database, too. */
  readonly logIsHere: boolean
  /** The keys that checkpoints may be signed with. */
  readonly publicKeys: readonly Buffer[]
}

type State = {
  readonly tree: TreeRow
  edge: Edge
  checkpoints: number
  /** The size of the last checkpoint that was compared. */
  signed: number
  finding: string | undefined
}

type Run = Pick<Verifying, 'db' | 'publicKeys'> & {
  readonly taken: Position | undefined
  readonly states: ReadonlyMap<string, State>
  readonly findings: Finding[]
  leaves: number
  waiting: number
}

/**
 * Makes the trees again from the log, and compares them with what is stored: leaf index, tiles, and every checkpoint that was
 * signed. Memory holds a page of events, and the right edge of each tree.
 */
export const verifyAuditLog = async ({ db, events, logIsHere, publicKeys }: Verifying): Promise<Verified> => {
  const [trees, taken] = await Promise.all([readTrees(db), takenUpTo(db)])
  const states = new Map(
    trees.map((tree): [string, State] => [
      tree.organisation,
      { tree, edge: emptyEdge, checkpoints: 0, signed: 0, finding: undefined },
    ]),
  )
  const run: Run = { db, publicKeys, taken, states, findings: [], leaves: 0, waiting: 0 }
  for await (const page of events) await takePage(run, page)
  await takeRest(run)
  const found = [...states.values()].flatMap(({ tree: { origin }, finding }) =>
    finding === undefined ? [] : [{ origin, reason: finding }],
  )
  const elsewhere = logIsHere ? await wrongCategory(db) : []
  return {
    logs: trees.length,
    leaves: run.leaves,
    checkpoints: [...states.values()].reduce((sum, { checkpoints }) => sum + checkpoints, 0),
    waiting: run.waiting,
    findings: [...run.findings, ...found, ...elsewhere],
  }
}

const organisationOf = ({ metadata }: RecordedEvent, states: Run['states']): string =>
  metadata.organisation_id !== null && states.has(metadata.organisation_id.toLowerCase())
    ? metadata.organisation_id.toLowerCase()
    : installation

const named = ({ type, stream, revision }: Pick<RecordedEvent, 'type' | 'stream' | 'revision'>): string =>
  `${type}, revision ${revision} of ${stream}`

type Piece = { readonly state: State; events: readonly RecordedEvent[] }

const takePage = async (run: Run, page: readonly RecordedEvent[]): Promise<void> => {
  const pieces = new Map<string, RecordedEvent[]>()
  for (const event of page) {
    const organisation = organisationOf(event, run.states)
    const own = pieces.get(organisation)
    if (own) own.push(event)
    else pieces.set(organisation, [event])
  }
  let open: Piece[] = []
  for (const [organisation, events] of pieces) {
    const state = run.states.get(organisation)
    if (state) open.push({ state, events })
    else passOver(run, undefined, events)
  }
  // Leaves that are no event's stand between those of events, so that a page may need more of them than it has events.
  while ((open = open.filter(({ state, events }) => state.finding === undefined && events.length > 0)).length > 0) {
    const rows = await leavesOf(
      run.db,
      open.map(({ state, events }) => ({ tree: state.tree.id, from: state.edge.size, count: events.length })),
    )
    await takeLeaves(run, open, rows)
  }
}

/** Events that have no leaf: they wait to be taken in, if all others have passed them over, too. */
const passOver = (run: Run, state: State | undefined, events: readonly RecordedEvent[]): void => {
  const [first] = events
  if (!first) return
  const isTaken = run.taken !== undefined && first.position <= run.taken
  run.waiting += events.filter(({ position }) => run.taken === undefined || position > run.taken).length
  if (!isTaken) return
  const reason = `there is no leaf for the event ${first.id} (${named(first)})`
  if (state) state.finding ??= `leaf ${state.edge.size}: ${reason}`
  else run.findings.push({ origin: 'no log', reason })
}

const takeLeaves = async (
  run: Run,
  pieces: readonly Piece[],
  rows: ReadonlyMap<number, readonly LeafRow[]>,
): Promise<void> => {
  const added = pieces.map((piece) => {
    const own = rows.get(piece.state.tree.id) ?? []
    const { leaves, events, finding } = compareLeaves(piece.state.edge.size, own, piece.events)
    if (leaves.length === 0) {
      if (finding === undefined) passOver(run, piece.state, piece.events)
      piece.events = []
    } else piece.events = events
    return { state: piece.state, leaves, finding }
  })
  await addLeaves(run, added)
}

type Compared = {
  readonly leaves: readonly Buffer[]
  /** Those that are left. */
  readonly events: readonly RecordedEvent[]
  readonly finding: string | undefined
}

/** Compares the leaf index with the events, one by one. */
const compareLeaves = (size: number, rows: readonly LeafRow[], events: readonly RecordedEvent[]): Compared => {
  const leaves: Buffer[] = []
  let next = 0
  for (const row of rows) {
    const index = size + leaves.length
    const left = () => ({ leaves, events: events.slice(next) })
    if (row.index !== index) return { ...left(), finding: `leaf ${index}: it is not in the leaf index` }
    if (row.record !== null) {
      leaves.push(leafHash(Buffer.from(row.record)))
      continue
    }
    const event = events[next]
    if (!event) break
    if (event.id !== row.event_id || event.stream !== row.stream || event.revision !== row.revision)
      return {
        ...left(),
        finding: `leaf ${index}: the log has the event ${event.id} (${named(event)}), the leaf index has ${row.event_id} (revision ${row.revision} of ${row.stream})`,
      }
    leaves.push(leafHash(leafRecord(event)))
    next++
  }
  return { leaves, events: events.slice(next), finding: undefined }
}

type Added = { readonly state: State; readonly leaves: readonly Buffer[]; readonly finding: string | undefined }

/** Lets the trees grow, from one checkpoint to the next, and compares the tiles that they then have. */
const addLeaves = async (run: Run, added: readonly Added[]): Promise<void> => {
  const growing = added.filter(({ leaves }) => leaves.length > 0)
  const heads = await headsOf(
    run.db,
    growing.map(({ state, leaves }) => ({
      tree: state.tree.id,
      after: state.edge.size,
      upTo: state.edge.size + leaves.length,
    })),
  )
  const grown = growing.map(({ state, leaves }) => growTo(run, state, leaves, heads.get(state.tree.id) ?? []))
  await compareTiles(run.db, grown)
  for (const { state, finding } of grown) state.finding ??= finding
  for (const { state, finding } of added) state.finding ??= finding
}

type Grown = { readonly state: State; readonly tiles: Tiles; readonly finding: string | undefined }

const growTo = (run: Run, state: State, leaves: readonly Buffer[], rows: readonly CheckpointRow[]): Grown => {
  const tiles = new Map<string, Buffer>()
  const first = state.edge.size
  const add = (upTo: number) => {
    const grown = appended(state.edge, leaves.slice(state.edge.size - first, upTo - first))
    state.edge = grown.edge
    for (const [key, bytes] of grown.tiles) tiles.set(key, bytes)
  }
  let finding: string | undefined
  for (const row of rows) {
    add(row.size)
    finding ??= checkCheckpoints(state.tree.origin, state, row, run.publicKeys)
    state.signed = row.size
    state.checkpoints++
  }
  add(first + leaves.length)
  run.leaves += leaves.length
  return { state, tiles, finding }
}

const toName = (key: string) => {
  const [level = 0, index = 0] = key.split('/').map(Number)
  return { level, index }
}

/** Compares tiles as far as they are known; the last one of a level may hold more by now. */
const compareTiles = async (db: Reader, grown: readonly Grown[]): Promise<void> => {
  const stored = await readTiles(
    db,
    grown.flatMap(({ state, tiles }) => [...tiles.keys()].map((key) => ({ ...toName(key), tree: state.tree.id }))),
  )
  for (const { state, tiles } of grown)
    for (const [key, bytes] of tiles) state.finding ??= differenceOf(key, bytes, stored.get(state.tree.id)?.get(key))
}

const differenceOf = (key: string, bytes: Buffer, stored: Buffer | undefined): string | undefined => {
  if (!stored) return `tile ${key}: it is not there`
  const hashes = Array.from({ length: bytes.length / hashBytes }, (_, place) => place)
  const hashOf = (tile: Buffer, place: number) => tile.subarray(place * hashBytes, (place + 1) * hashBytes)
  const place = hashes.find((each) => !hashOf(bytes, each).equals(hashOf(stored, each)))
  const { level, index } = toName(key)
  if (place === undefined)
    return hashes.length === tileWidth && stored.length > bytes.length
      ? `tile ${key}: it holds more than its hashes`
      : undefined
  return level === 0
    ? `leaf ${index * tileWidth + place}: its event is not what was recorded, or its tile was altered`
    : `tile ${key}: it is not what the leaves make`
}

/** Finds all that is stored beyond what the log holds: leaves of events that are gone, tiles and checkpoints of no leaves. */
const takeRest = async (run: Run): Promise<void> => {
  for (;;) {
    const open = [...run.states.values()].filter(
      ({ finding, edge, tree }) => finding === undefined && edge.size < tree.size,
    )
    if (open.length === 0) break
    const rows = await leavesOf(
      run.db,
      open.map(({ tree, edge }) => ({ tree: tree.id, from: edge.size, count: 1_000 })),
    )
    const added = open.map((state) => {
      const { leaves } = compareLeaves(state.edge.size, rows.get(state.tree.id) ?? [], [])
      const finding = leaves.length > 0 ? undefined : `leaf ${state.edge.size}: its event is not in the log`
      return { state, leaves, finding }
    })
    await addLeaves(run, added)
  }
  const whole = [...run.states.values()].filter(({ finding }) => finding === undefined)
  const beyond = await beyondTrees(
    run.db,
    whole.map(({ tree, edge, signed }) => ({ tree, edge, signed })),
  )
  for (const state of whole) state.finding ??= beyond.get(state.tree.id)
}
