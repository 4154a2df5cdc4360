/** The most calls to outside parties at once: for all organisations together, and for each. */
type Bounds = { readonly all: number; readonly each: number }

/** Runs calls as long as there is room for them; without room a call is not made, and the answer is undefined. */
export const boundedCalls = ({ all, each }: Bounds) => {
  const underWay = new Map<string, number>()
  let total = 0

  return async <Result>(organisation_id: string, call: () => Promise<Result>): Promise<Result | undefined> => {
    const own = underWay.get(organisation_id) ?? 0
    if (total >= all || own >= each) return undefined
    total++
    underWay.set(organisation_id, own + 1)
    try {
      return await call()
    } finally {
      total--
      const left = (underWay.get(organisation_id) ?? 1) - 1
      if (left === 0) underWay.delete(organisation_id)
      else underWay.set(organisation_id, left)
    }
  }
}
export type BoundedCalls = ReturnType<typeof boundedCalls>
