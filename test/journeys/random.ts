export type Random = () => number

/** The same numbers from the same seed. */
export const randomFrom = (seed: number): Random => {
  let state = seed >>> 0
  return () => {
    // Mulberry32: small, and good enough to pick moments with.
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export const pick = <Item>(items: readonly [Item, ...Item[]], random: Random): Item =>
  items[Math.floor(random() * items.length)] ?? items[0]
