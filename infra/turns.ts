/**
 * Whose turn it is: takes one of each after the other, in their order, as long as there is something to take, or so many.
 * Whoever has nothing left, or as much at once as one may have, is passed over from then on. Of those that wait, whoever had
 * the last turn goes to the end: who keeps them keeps their order for the next time.
 */
export const takeTurns = <Key, Item>(
  waiting: Set<Key>,
  take: (key: Key) => Item | undefined,
  most = Infinity,
): Item[] => {
  const taken: Item[] = []
  for (const key of waiting) {
    if (taken.length >= most) break
    const item = take(key)
    waiting.delete(key)
    if (item === undefined) continue
    // What is added to a set while it is gone through comes at its end.
    waiting.add(key)
    taken.push(item)
  }
  return taken
}
