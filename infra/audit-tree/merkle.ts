import { hash } from 'node:crypto'

/** The Merkle tree of RFC 6962 over SHA-256: its root, and the proofs that something is in it and that it only grew. */

/** The root of the complete subtree of 2^level leaves that begins with the leaf `index * 2^level`. */
export type NodeAt = (level: number, index: number) => Buffer

export const sha256 = (bytes: Buffer | string): Buffer => hash('sha256', bytes, 'buffer')

const leafPrefix = Buffer.from([0])
const nodePrefix = Buffer.from([1])

export const leafHash = (record: Buffer): Buffer => sha256(Buffer.concat([leafPrefix, record]))

export const nodeHash = (left: Buffer, right: Buffer): Buffer => sha256(Buffer.concat([nodePrefix, left, right]))

export const emptyRoot = sha256('')

/** The greatest power of two below a number of leaves, as its exponent. Numbers are too large for the operators on bits. */
const splitOf = (leaves: number): number => {
  let level = 0
  while (2 ** (level + 1) < leaves) level++
  return level
}

/** The root of the leaves from `start` to before `end`, where `start` is a multiple of a power of two that holds them all. */
const rangeRoot = (start: number, end: number, nodeAt: NodeAt): Buffer => {
  const leaves = end - start
  const level = splitOf(leaves)
  const size = 2 ** level
  if (leaves === 1) return nodeAt(0, start)
  if (leaves === size * 2) return nodeAt(level + 1, start / leaves)
  return nodeHash(nodeAt(level, start / size), rangeRoot(start + size, end, nodeAt))
}

export const rootOf = (size: number, nodeAt: NodeAt): Buffer => (size === 0 ? emptyRoot : rangeRoot(0, size, nodeAt))

/** The path from a leaf to the root, the lowest sibling first (RFC 6962, 2.1.1). */
export const inclusionProof = (index: number, size: number, nodeAt: NodeAt): readonly Buffer[] => {
  if (!(index >= 0 && index < size)) throw new RangeError(`There is no leaf ${index} among ${size}.`)
  const path = (start: number, end: number): Buffer[] => {
    if (end - start === 1) return []
    const middle = start + 2 ** splitOf(end - start)
    return index < middle
      ? [...path(start, middle), rangeRoot(middle, end, nodeAt)]
      : [...path(middle, end), rangeRoot(start, middle, nodeAt)]
  }
  return path(0, size)
}

/** The proof that a tree of `size` begins with the tree of `former` leaves (RFC 6962, 2.1.2). */
export const consistencyProof = (former: number, size: number, nodeAt: NodeAt): readonly Buffer[] => {
  if (!(former >= 0 && former <= size)) throw new RangeError(`A tree of ${size} leaves does not hold one of ${former}.`)
  if (former === 0) return []
  const path = (start: number, end: number, isWhole: boolean): Buffer[] => {
    if (former === end) return isWhole ? [] : [rangeRoot(start, end, nodeAt)]
    const middle = start + 2 ** splitOf(end - start)
    return former <= middle
      ? [...path(start, middle, isWhole), rangeRoot(middle, end, nodeAt)]
      : [...path(middle, end, false), rangeRoot(start, middle, nodeAt)]
  }
  return path(0, size, true)
}

/** The root that a leaf and its path lead to; undefined where the path has not the length that it must have. */
export const rootFromLeaf = (
  leaf: Buffer,
  index: number,
  size: number,
  proof: readonly Buffer[],
): Buffer | undefined => {
  if (!(index >= 0 && index < size)) return undefined
  const siblings = [...proof]
  const climb = (start: number, end: number): Buffer | undefined => {
    if (end - start === 1) return leaf
    const middle = start + 2 ** splitOf(end - start)
    const sibling = siblings.pop()
    const own = index < middle ? climb(start, middle) : climb(middle, end)
    if (!sibling || !own) return undefined
    return index < middle ? nodeHash(own, sibling) : nodeHash(sibling, own)
  }
  const root = climb(0, size)
  return siblings.length === 0 ? root : undefined
}

type Head = { readonly size: number; readonly root: Buffer }

/** True where the proof shows that the later tree begins with the whole of the former one. */
export const isConsistent = (former: Head, later: Head, proof: readonly Buffer[]): boolean => {
  if (former.size > later.size) return false
  if (former.size === 0) return former.root.equals(emptyRoot) && proof.length === 0
  const hashes = [...proof]
  /** The roots of the former tree's part and of the later tree's part of a range. */
  const climb = (start: number, end: number, isWhole: boolean): readonly [Buffer, Buffer] | undefined => {
    if (former.size === end) {
      const root = isWhole ? former.root : hashes.pop()
      return root && [root, root]
    }
    const middle = start + 2 ** splitOf(end - start)
    const other = hashes.pop()
    const own = former.size <= middle ? climb(start, middle, isWhole) : climb(middle, end, false)
    if (!other || !own) return undefined
    const [before, after] = own
    return former.size <= middle ? [before, nodeHash(after, other)] : [nodeHash(other, before), nodeHash(other, after)]
  }
  const roots = climb(0, later.size, true)
  return roots !== undefined && hashes.length === 0 && roots[0].equals(former.root) && roots[1].equals(later.root)
}
