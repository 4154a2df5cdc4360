const nul = 'must not hold the character U+0000'
const halfPair = 'must be valid Unicode: it holds half of a surrogate pair'

/** The texts that cannot be stored, at their places. A key that cannot be is told of the mapping that it stands in. */
export const unusableTexts = (
  value: unknown,
  path: readonly PropertyKey[] = [],
): readonly (readonly [path: readonly PropertyKey[], reason: string])[] => {
  if (typeof value === 'string') {
    const reason = value.includes('\0') ? nul : value.isWellFormed() ? undefined : halfPair
    return reason === undefined ? [] : [[path, reason]]
  }
  if (Array.isArray(value)) return value.flatMap((each, index) => unusableTexts(each, [...path, index]))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, each]) => {
    const [ofKey] = unusableTexts(key, path)
    return ofKey ? [[path, `has a key that ${ofKey[1]}`] as const] : unusableTexts(each, [...path, key])
  })
}
