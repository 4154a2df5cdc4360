/** JSON in which equal values have equal text: the keys of objects in order, no white space, nothing undefined. */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  const members: string[] = []
  for (const key of Object.keys(value).toSorted()) {
    const member: unknown = value[key as keyof typeof value]
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(member)}`)
  }
  return `{${members.join(',')}}`
}

/** The two values are equal as JSON. */
export const isSameJson = (one: unknown, other: unknown): boolean => canonicalJson(one) === canonicalJson(other)
