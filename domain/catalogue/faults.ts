/** Something in a draft that cannot be used: its path, and the reason. */
export type Fault = { readonly path: readonly (string | number)[]; readonly reason: string }

export const fault = (path: readonly (string | number)[], reason: string): Fault => ({ path, reason })

/** The fault, if so. */
export const when = (isSo: boolean, path: readonly (string | number)[], reason: string): readonly Fault[] =>
  isSo ? [fault(path, reason)] : []

/** The faults of a part, as faults of the whole. */
export const under = (path: readonly (string | number)[], faults: readonly Fault[]): readonly Fault[] =>
  faults.map((each) => ({ ...each, path: [...path, ...each.path] }))

/** The faults of each item of a list, at its place in it. */
export const eachOf = <Item>(
  list: string,
  items: readonly Item[],
  faultsOf: (item: Item, index: number) => readonly Fault[],
): readonly Fault[] => items.flatMap((item, index) => under([list, index], faultsOf(item, index)))

/** Items of a list that have in a field what an earlier one has. */
export const repeats = <Item, Name extends keyof Item & string>(
  list: string,
  items: readonly Item[],
  name: Name,
): readonly Fault[] => {
  const first = new Map<unknown, number>()
  return items.flatMap((item, index) => {
    const earlier = first.get(item[name])
    if (earlier !== undefined) return [fault([list, index, name], `is the same as that of ${list}[${earlier}]`)]
    first.set(item[name], index)
    return []
  })
}
