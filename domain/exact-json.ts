/** JSON that somebody sent, with the numbers in it that are ours only by their text. */
export type SentJson = {
  readonly value: unknown
  /** The texts that were sent as numbers: of them, the digits are kept and not the nearest number that we can hold. */
  readonly numbers: ReadonlySet<string>
}

/**
 * Parses JSON so that nothing of it is lost: a number that we would write otherwise than its sender did (more digits than we
 * hold, `1.10`, `-0`, `1e400`) is the text of it. Throws a SyntaxError for what is no JSON.
 */
export const parseExactly = (text: string): SentJson => {
  const numbers = new Set<string>()
  const exactly = (_name: string, value: unknown, context?: { readonly source?: string }): unknown => {
    const written = context?.source
    if (typeof value !== 'number' || written === undefined || written === String(value)) return value
    numbers.add(written)
    return written
  }
  return { value: JSON.parse(text, exactly) as unknown, numbers }
}

/** The value with the parts at these places taken from another that has the same form; `events.payload` is in each of a list. */
export const withParts = (value: unknown, other: unknown, places: readonly string[]): unknown =>
  places.reduce((whole, place) => withPart(whole, other, place.split('.')), value)

const withPart = (value: unknown, other: unknown, [key, ...rest]: readonly string[]): unknown => {
  if (key === undefined) return other
  if (Array.isArray(value) && Array.isArray(other))
    return value.map((each, index) => withPart(each, other[index], [key, ...rest]))
  if (!isObject(value) || !isObject(other) || !Object.hasOwn(value, key)) return value
  return { ...value, [key]: withPart(value[key], other[key], rest) }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
