/** Whether two JSON values say the same. The order of keys says nothing, and neither does a key whose value is undefined. */
export const sameJson = (one: unknown, other: unknown): boolean => {
  if (Object.is(one, other)) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) || Array.isArray(other))
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((value, index) => sameJson(value, other[index]))
    )
  const [fields, others] = [stated(one), stated(other)]
  return (
    fields.size === others.size &&
    [...fields].every(([key, value]) => others.has(key) && sameJson(value, others.get(key)))
  )
}

const stated = (value: object): ReadonlyMap<string, unknown> =>
  new Map(Object.entries(value).filter(([, each]) => each !== undefined))
