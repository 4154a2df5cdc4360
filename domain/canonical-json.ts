/** JSON in which equal values have equal text: the keys of objects in order, no white space, nothing undefined. */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`)
  return `{${members.join(',')}}`
}

/** Whether two values say the same as JSON. */
export const isSameJson = (one: unknown, other: unknown): boolean => canonicalJson(one) === canonicalJson(other)
