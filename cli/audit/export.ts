import { createHash, type KeyObject } from 'node:crypto'
import type { Pool } from 'pg'
import type { RecordedEvent } from '#domain/event.ts'
import { leafRecord } from '#infra/audit-tree/leaf-record.ts'
import { inclusionProof } from '#infra/audit-tree/merkle.ts'
import { signNote, verifierOf, verifierText } from '#infra/audit-tree/signed-note.ts'
import { nodeIn, tilesFor, type Tiles } from '#infra/audit-tree/tiles.ts'
import { readTiles } from '#infra/audit-tree/tree-rows.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { endText, Entry, exportFormat, lineOf, type Manifest } from './export-format.ts'
import { pagesOfFound, requireSigned, type Found, type Selection, type SignedTree } from './export-rows.ts'

type Exporting = {
  readonly pool: Pool
  readonly log: Pick<EventLog, 'read'>
  readonly organisation: string
  readonly selection: Selection
  readonly key: KeyObject
  readonly publicKeys: readonly Buffer[]
  readonly write: (text: string) => Promise<void>
  readonly now?: Date
}

/** Writes the events that were asked for, with all that is needed to verify them elsewhere. Returns their number. */
export const exportEvents = async (exporting: Exporting): Promise<number> => {
  const { pool, log, organisation, selection, key, publicKeys, write, now = new Date() } = exporting
  const tree = await requireSigned(pool, log, organisation)
  const { origin } = tree
  const manifest: Manifest = {
    format: exportFormat,
    origin,
    keys: publicKeys.map((each) => verifierText(verifierOf(origin, each))),
    checkpoint: tree.note,
    selection,
    exported_at: now.toISOString(),
  }
  await write(lineOf(manifest))
  const digest = createHash('sha256')
  let entries = 0
  for await (const page of pagesOfFound(pool, tree, selection)) {
    for (const entry of await entriesOf(pool, log, tree, page)) {
      const line = lineOf(entry)
      digest.update(line)
      entries++
      await write(line)
    }
  }
  const text = endText({ origin, entries, manifest: Buffer.from(lineOf(manifest)), digest: digest.digest() })
  await write(lineOf({ end: signNote(text, origin, key, now) }))
  return entries
}

const entriesOf = async (
  pool: Pool,
  log: Exporting['log'],
  tree: SignedTree,
  found: readonly Found[],
): Promise<readonly Entry[]> => {
  const wanted = found.flatMap(({ index }) => tilesFor((nodeAt) => inclusionProof(index, tree.signed, nodeAt)))
  const names = [...new Map(wanted.map((tile) => [`${tile.level}/${tile.index}`, tile])).values()]
  const [tiles, events] = await Promise.all([
    readTiles(
      pool,
      names.map((tile) => ({ ...tile, tree: tree.id })),
    ),
    Promise.all(found.map(({ stream, revision }) => log.read(stream, { from: revision, limit: 1 }))),
  ])
  const own: Tiles = tiles.get(tree.id) ?? new Map()
  return found.map(({ index, event_id }, place) => entryOf(index, event_id, events[place]?.[0], tree, own))
}

const entryOf = (
  index: number,
  event_id: string,
  event: RecordedEvent | undefined,
  { signed }: SignedTree,
  tiles: Tiles,
): Entry => {
  if (event?.id !== event_id) throw new Error(`The event ${event_id} is not in the log. Run npm run audit -- verify.`)
  return {
    index,
    record: Entry.shape.record.parse(JSON.parse(String(leafRecord(event)))),
    data: Entry.shape.data.parse(event.data),
    metadata: Entry.shape.metadata.parse(event.metadata),
    proof: inclusionProof(index, signed, nodeIn(tiles)).map((each) => each.toString('base64')),
  }
}
