import { expect, test } from 'vitest'
import {
  consistencyProof,
  emptyRoot,
  inclusionProof,
  isConsistent,
  leafHash,
  nodeHash,
  rootFromLeaf,
  rootOf,
} from '#infra/audit-tree/merkle.ts'
import {
  appended,
  edgeOf,
  edgeTiles,
  emptyEdge,
  nodeIn,
  rootOfEdge,
  tileKey,
  tileOfPath,
  tilePath,
  tilesFor,
  TileMissing,
} from '#infra/audit-tree/tiles.ts'

/** Leaves and roots that implementations of certificate transparency are tested with. */
const known = [
  ['', '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d'],
  ['00', 'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125'],
  ['10', 'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77'],
  ['2021', 'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7'],
  ['3031', '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4'],
  ['40414243', '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef'],
  ['5051525354555657', 'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c'],
  ['606162636465666768696a6b6c6d6e6f', '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328'],
] as const

const leavesUpTo = (size: number) => Array.from({ length: size }, (_, index) => leafHash(Buffer.from(`leaf ${index}`)))

/** By the definition of RFC 6962, of all leaves. */
const rootByDefinition = (leaves: readonly Buffer[]): Buffer => {
  const [first] = leaves
  if (!first) return emptyRoot
  if (leaves.length === 1) return first
  let half = 1
  while (half * 2 < leaves.length) half *= 2
  return nodeHash(rootByDefinition(leaves.slice(0, half)), rootByDefinition(leaves.slice(half)))
}

const treeOf = (size: number) => {
  const leaves = leavesUpTo(size)
  return { leaves, ...appended(emptyEdge, leaves) }
}

test('the roots are those that other implementations have', () => {
  const leaves = known.map(([leaf]) => leafHash(Buffer.from(leaf, 'hex')))

  const roots = known.map((_, index) => rootOfEdge(appended(emptyEdge, leaves.slice(0, index + 1)).edge))

  expect(roots.map((root) => root.toString('hex'))).toEqual(known.map(([, root]) => root))
  expect(rootOfEdge(emptyEdge).toString('hex')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
})

test.each([1, 2, 3, 255, 256, 257, 511, 512, 513, 1_000, 65_535, 65_536, 65_537])(
  'a tree of %i leaves has the same root from its tiles, its edge and its leaves, however it grew',
  (size) => {
    const { leaves, edge, tiles } = treeOf(size)
    const all = new Map(tiles)
    let grown = emptyEdge
    for (let from = 0; from < size; from += 999) {
      const step = appended(grown, leaves.slice(from, from + 999))
      grown = step.edge
      for (const [key, bytes] of step.tiles) all.set(key, bytes)
    }

    expect(grown.size).toBe(size)
    expect(rootOfEdge(grown)).toEqual(rootOfEdge(edge))
    expect(rootOf(size, nodeIn(all))).toEqual(rootOfEdge(edge))
    expect(edgeOf(size, all).partial.map(String)).toEqual(
      grown.partial.map(String).slice(0, edgeOf(size, all).partial.length),
    )
    if (size <= 1_000) expect(rootOfEdge(edge)).toEqual(rootByDefinition(leaves))
  },
)

test('a tree of 70,000 leaves has the tiles that the format names', () => {
  expect(edgeTiles(70_000)).toEqual([
    { level: 0, index: 273, width: 112 },
    { level: 1, index: 1, width: 17 },
    { level: 2, index: 0, width: 1 },
  ])
  expect(edgeTiles(256)).toEqual([{ level: 1, index: 0, width: 1 }])
  expect(treeOf(256).tiles.get(tileKey({ level: 0, index: 0 }))).toHaveLength(8_192)
})

test('every leaf is shown to be in the tree, and no other leaf, place, size or path is', () => {
  for (const size of [1, 2, 3, 7, 8, 9, 257, 300]) {
    const { leaves, tiles, edge } = treeOf(size)
    const root = rootOfEdge(edge)
    const leadsToRoot = (...given: Parameters<typeof rootFromLeaf>) => rootFromLeaf(...given)?.equals(root) ?? false
    const other = leafHash(Buffer.from('other'))
    const wrong = [...leaves.entries()].filter(([index, leaf]) => {
      const proof = inclusionProof(index, size, nodeIn(tiles))
      const isElsewhere = size > 1 && leadsToRoot(leaf, index ^ 1, size, proof)
      const isShorter = proof.length > 0 && leadsToRoot(leaf, index, size, proof.slice(1))
      const isForOthers = leadsToRoot(other, index, size, proof) || leadsToRoot(leaf, index, size, [...proof, leaf])
      return !leadsToRoot(leaf, index, size, proof) || isElsewhere || isShorter || isForOthers
    })
    expect(wrong).toEqual([])
  }
})

test('a tree is shown to begin with every smaller one, and with no other', () => {
  const { leaves } = treeOf(300)
  const heads = Array.from({ length: 301 }, (_, size) => {
    const { edge } = appended(emptyEdge, leaves.slice(0, size))
    return { size, root: rootOfEdge(edge) }
  })
  for (const later of [1, 2, 3, 64, 255, 256, 257, 300]) {
    const { tiles } = appended(emptyEdge, leaves.slice(0, later))
    const to = heads[later]
    if (!to) throw new Error('There is no such tree.')
    const wrong = heads.slice(0, later + 1).filter((former) => {
      const proof = consistencyProof(former.size, later, nodeIn(tiles))
      const other = leafHash(former.root)
      const isShownFalsely =
        isConsistent({ ...former, root: other }, to, proof) ||
        (former.size > 0 && isConsistent(former, { ...to, root: other }, proof)) ||
        isConsistent(former, to, [...proof, to.root])
      return isShownFalsely || !isConsistent(former, to, proof)
    })
    expect(wrong).toEqual([])
  }
  expect(isConsistent({ size: 2, root: emptyRoot }, { size: 1, root: emptyRoot }, [])).toBe(false)
})

test('the tiles of a proof are known before it is made', () => {
  const { tiles, edge } = treeOf(70_000)
  const wanted = tilesFor((nodeAt) => [inclusionProof(300, 70_000, nodeAt), consistencyProof(300, 70_000, nodeAt)])
  const some = new Map(wanted.map((tile) => [tileKey(tile), tiles.get(tileKey(tile)) ?? Buffer.alloc(0)]))

  const proof = inclusionProof(300, 70_000, nodeIn(some))

  expect(wanted.length).toBeLessThan(8)
  expect(rootFromLeaf(leafHash(Buffer.from('leaf 300')), 300, 70_000, proof)).toEqual(rootOfEdge(edge))
  expect(() => inclusionProof(60_000, 70_000, nodeIn(new Map()))).toThrow(TileMissing)
})

test('an edge whose tile is too short or too long is refused', () => {
  const { tiles } = treeOf(300)

  expect(edgeOf(300, tiles).size).toBe(300)
  expect(() => edgeOf(299, tiles)).toThrow(TileMissing)
  expect(() => edgeOf(301, tiles)).toThrow(TileMissing)
})

test.each([
  [0, 256, 'tile/0/000'],
  [999, 256, 'tile/0/999'],
  [1_000, 5, 'tile/0/x001/000.p/5'],
  [1_234_067, 256, 'tile/0/x001/x234/067'],
])('tile %i of width %i has the address of the format', (index, width, path) => {
  expect(tilePath({ level: 0, index }, width)).toBe(path)
  expect(tileOfPath(path.replace('tile/0/', ''))).toEqual({ index, width })
})

test.each(['', '1', '0000', 'x000/001', 'x001', '001.p/0', '001.p/256', '001.p/07', '001/002', 'x1/002', '../001'])(
  '%j is no address of a tile',
  (path) => {
    expect(tileOfPath(path)).toBeUndefined()
  },
)
