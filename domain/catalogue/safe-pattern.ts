/**
 * Patterns come from set-up files and are tried on what any visitor of a web page types. A pattern is let in only when it
 * cannot take long on any text of the length that is allowed for its answers.
 */

const longest = 200
const mostPaths = 2_000_000

/** Why a pattern cannot be used for answers of up to so many characters; undefined when it can. */
export const patternFault = (pattern: string, maxLength: number): string | undefined => {
  if (pattern.length > longest) return `must not be longer than ${longest} characters`
  try {
    RegExp(pattern, 'u')
  } catch {
    return 'is not a regular expression'
  }
  if (/\\[1-9k]|\(\?<?[=!]/u.test(pattern.replaceAll('\\\\', ''))) return 'must not look around or refer back'

  const starts = pattern.startsWith('^') ? 1 : maxLength + 1
  if (pathsOf(pattern, maxLength) * starts <= mostPaths) return undefined
  return `could take too long on an answer of ${maxLength} characters: repeat less, or lower max_length`
}

type Repetition = { readonly least: number; readonly most: number }

/**
 * In how many ways a backtracking matcher may try the pattern at one place: choices within a sequence multiply, those of
 * alternatives add up, and a repeated group multiplies with itself. It is never too low.
 */
const pathsOf = (pattern: string, maxLength: number): number => {
  let at = 0

  const alternatives = (): number => {
    let paths = sequence()
    while (pattern[at] === '|') {
      at++
      paths += sequence()
    }
    return paths
  }

  const sequence = (): number => {
    let paths = 1
    while (at < pattern.length && pattern[at] !== '|' && pattern[at] !== ')') paths *= repeated(atom())
    return paths
  }

  const atom = (): number => {
    if (pattern[at] === '(') {
      at += /^\((\?(:|<\w+>))?/u.exec(pattern.slice(at))?.[0].length ?? 1
      const paths = alternatives()
      at++
      return paths
    }
    at +=
      /^(\[(\\.|[^\]\\])*\]|\\(u\{\w+\}|[pP]\{[^}]*\}|u\w{4}|x\w{2}|.)|.)/su.exec(pattern.slice(at))?.[0].length ?? 1
    return 1
  }

  const repeated = (paths: number): number => {
    const repetition = quantifier()
    if (!repetition) return paths
    const { least, most } = repetition
    return (Math.min(most, maxLength) - Math.min(least, maxLength) + 1) * paths ** Math.min(most, maxLength)
  }

  const quantifier = (): Repetition | undefined => {
    const [written, sign, least, comma, most] =
      /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/u.exec(pattern.slice(at)) ?? ([] as const)
    if (written === undefined) return undefined
    at += written.length
    if (sign !== undefined) return { least: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : Infinity }
    const fewest = Number(least)
    return { least: fewest, most: most ? Number(most) : comma ? Infinity : fewest }
  }

  return alternatives()
}
