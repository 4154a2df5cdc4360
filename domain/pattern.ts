import { RE2JS, RE2JSException } from 're2js'

/**
 * Patterns come from set-up files and are tried on what any visitor of a web page types. They are tried by RE2, which takes
 * time in proportion to the text where JavaScript's own engine can take time that doubles with each character. A pattern
 * must be known to both: web pages are shown it as it was written, and try it with the engine of the browser.
 */

const longestPattern = 200
/** Instructions of the compiled pattern. Counted repetition multiplies them, and time is text times instructions. */
const largestProgram = 500
/** In characters: texts with a pattern are not longer. */
export const longestMatchedText = 1000

/** Why a pattern cannot be used; undefined when it can. */
export const patternFault = (pattern: string): string | undefined => {
  if (pattern.length > longestPattern) return `must not be longer than ${longestPattern} characters`
  try {
    RegExp(pattern, 'u')
    // Translated, a reference to a group would be taken for a letter or a digit.
    if (/\\[1-9k]/.test(pattern.replaceAll('\\\\', ''))) return 'must not refer back to a group'
    if (compiled(pattern).programSize() <= largestProgram) return undefined
    return 'repeats too much: lower its counts, or limit the answer by max_length instead'
  } catch (error) {
    if (error instanceof SyntaxError) return 'is not a regular expression'
    if (!(error instanceof RE2JSException)) throw error
    const [, unknown = 'a part'] = /: (`.*`)$/su.exec(error.message) ?? []
    return `has ${unknown}, which RE2 does not know: nothing may look around or refer back, or repeat more than 1000 times`
  }
}

export const matchesPattern = (pattern: string, text: string): boolean => compiled(pattern).matcher(text).find()

/** Not cached: it takes a fraction of a millisecond, and what RE2 caches about the texts it tried can be megabytes. */
const compiled = (pattern: string): RE2JS => RE2JS.compile(RE2JS.translateRegExp(pattern))
