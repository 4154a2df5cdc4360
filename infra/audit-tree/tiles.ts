import { OwnError } from '#domain/own-error.ts'
import { nodeHash, rootOf, type NodeAt } from './merkle.ts'

/**
 * A tree kept as tiles (C2SP tlog-tiles): a tile of a level holds up to 256 hashes in a row, each the root of a full tile of
 * the level below, or of a leaf. Full tiles never change.
 */

const tileHeight = 8
export const tileWidth = 2 ** tileHeight
export const hashBytes = 32

export type TileName = { readonly level: number; readonly index: number }

/** The bytes of tiles, by `tileKey`. */
export type Tiles = ReadonlyMap<string, Buffer>

export const tileKey = ({ level, index }: TileName): string => `${level}/${index}`

/** The hashes from which a node is made: so many of a tile, from one on. */
const placeOfNode = (level: number, index: number) => {
  const tileLevel = Math.floor(level / tileHeight)
  const count = 2 ** (level % tileHeight)
  const first = index * count
  return { tile: { level: tileLevel, index: Math.floor(first / tileWidth) }, from: first % tileWidth, count }
}

/** Joins hashes in pairs until one is left; their number is a power of two. */
const joined = (hashes: Buffer): Buffer => {
  if (hashes.length === hashBytes) return hashes
  const half = hashes.length / 2
  return nodeHash(joined(hashes.subarray(0, half)), joined(hashes.subarray(half)))
}

/** A tile is not there, or shorter than the tree needs it. */
export class TileMissing extends OwnError {
  override readonly name = 'TileMissing'
}

export const nodeIn =
  (tiles: Tiles): NodeAt =>
  (level, index) => {
    const { tile, from, count } = placeOfNode(level, index)
    const end = (from + count) * hashBytes
    const bytes = tiles.get(tileKey(tile))
    if (!bytes || bytes.length < end) throw new TileMissing(`The tile ${tileKey(tile)} is not there, or too short.`)
    return joined(bytes.subarray(from * hashBytes, end))
  }

const nothing = Buffer.alloc(hashBytes)

/** The tiles that a piece of work looks into: it is done once with hashes that mean nothing. */
export const tilesFor = (work: (nodeAt: NodeAt) => unknown): readonly TileName[] => {
  const found = new Map<string, TileName>()
  work((level, index) => {
    const { tile } = placeOfNode(level, index)
    found.set(tileKey(tile), tile)
    return nothing
  })
  return [...found.values()]
}

/** The partial tiles at the right edge of a tree, from the leaves upwards; a level of which all tiles are full is left out. */
export const edgeTiles = (size: number): readonly (TileName & { readonly width: number })[] => {
  const found: (TileName & { width: number })[] = []
  for (let level = 0, hashes = size; hashes > 0; level++, hashes = Math.floor(hashes / tileWidth))
    if (hashes % tileWidth > 0) found.push({ level, index: Math.floor(hashes / tileWidth), width: hashes % tileWidth })
  return found
}

/** A tree that grows: its size and, by level, the hashes of the partial tile at its right edge. */
export type Edge = { readonly size: number; readonly partial: readonly Buffer[] }

export const emptyEdge: Edge = { size: 0, partial: [] }

/** The edge of a tree of this size. Throws `TileMissing` where its tiles are not as long as they must be. */
export const edgeOf = (size: number, tiles: Tiles): Edge => {
  const partial: Buffer[] = []
  for (const { width, ...tile } of edgeTiles(size)) {
    const bytes = tiles.get(tileKey(tile))
    if (bytes?.length !== width * hashBytes)
      throw new TileMissing(`The tile ${tileKey(tile)} is not there, or does not have the ${width} hashes of its tree.`)
    while (partial.length < tile.level) partial.push(Buffer.alloc(0))
    partial.push(bytes)
  }
  return { size, partial }
}

/** Adds leaves. Returns the tree's new edge, and every tile that is new or longer, its partial ones included. */
export const appended = (edge: Edge, leaves: readonly Buffer[]): { readonly edge: Edge; readonly tiles: Tiles } => {
  const tiles = new Map<string, Buffer>()
  const partial = [...edge.partial]
  let added: readonly Buffer[] = leaves
  for (let level = 0; added.length > 0; level++) {
    const before = partial[level] ?? Buffer.alloc(0)
    const bytes = Buffer.concat([before, ...added])
    const first = Math.floor(edge.size / tileWidth ** (level + 1))
    const full: Buffer[] = []
    let from = 0
    for (; bytes.length - from >= tileWidth * hashBytes; from += tileWidth * hashBytes) {
      const tile = bytes.subarray(from, from + tileWidth * hashBytes)
      tiles.set(tileKey({ level, index: first + full.length }), tile)
      full.push(joined(tile))
    }
    const rest = bytes.subarray(from)
    if (rest.length > 0) tiles.set(tileKey({ level, index: first + full.length }), rest)
    partial[level] = rest
    added = full
  }
  return { edge: { size: edge.size + leaves.length, partial }, tiles }
}

/** The root of a tree, from its edge. */
export const rootOfEdge = ({ size, partial }: Edge): Buffer => {
  const tiles = new Map(edgeTiles(size).map((tile) => [tileKey(tile), partial[tile.level] ?? Buffer.alloc(0)] as const))
  return rootOf(size, nodeIn(tiles))
}

/** A tile's address below that of its tree: three digits in each step, all but the last marked by an `x`. */
export const tilePath = (
  { level, index }: { readonly level: number | 'entries'; readonly index: number },
  width = tileWidth,
): string => {
  const digits = String(index).padStart(Math.ceil(String(index).length / 3) * 3, '0')
  const steps = digits.match(/.{3}/g) ?? []
  const path = steps.map((step, place) => (place < steps.length - 1 ? `x${step}` : step)).join('/')
  return `tile/${level}/${path}${width === tileWidth ? '' : `.p/${width}`}`
}

/** The index and the width that an address names; undefined for what is no address of a tile. */
export const tileOfPath = (path: string): { readonly index: number; readonly width: number } | undefined => {
  const [, steps, width] = /^((?:x\d{3}\/)*\d{3})(?:\.p\/([1-9]\d{0,2}))?$/.exec(path) ?? []
  if (steps === undefined) return undefined
  const found = { index: Number(steps.replaceAll(/[x/]/g, '')), width: width === undefined ? tileWidth : Number(width) }
  const isCanonical = tilePath({ level: 0, index: found.index }, found.width) === `tile/0/${path}`
  return isCanonical && Number.isSafeInteger(found.index) ? found : undefined
}
