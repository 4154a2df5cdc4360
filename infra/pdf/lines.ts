import bidiJs from 'bidi-js'
import { fontOf, type FontName } from './fonts.ts'

/** A run of characters in one font and one direction, in the order in which they are read. */
export type Run = { readonly font: FontName; readonly text: string; readonly isRightToLeft: boolean }

const emoji = / *(?:\p{RGI_Emoji}|\p{Emoji_Presentation}|\p{Regional_Indicator}|[\u{1f000}-\u{1faff}])+ */gv
const unseen = /\p{Variation_Selector}|[\u200b\u2060\ufeff\u00ad\u{e0000}-\u{e007f}]/gu

/**
 * The printable part of a text: no font has control characters or pictures, and each would be a box. Letters and their accents
 * are composed, since fonts have more of them so. A line break stays one.
 */
export const printable = (text: string): string =>
  text
    .normalize('NFC')
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[^\P{Cc}\n]/gu, ' ')
    .replaceAll(emoji, ' ')
    .replaceAll(unseen, '')

const words = new Intl.Segmenter('en', { granularity: 'word' })
const characters = new Intl.Segmenter('en', { granularity: 'grapheme' })
const ofSpacelessScript = /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Thai}/u

/** The parts between which a line may end: after a space or a hyphen, and between words of scripts that have no spaces. */
const partsOf = (paragraph: string): readonly string[] => {
  const parts: string[] = []
  let before: Intl.SegmentData | undefined
  for (const segment of words.segment(paragraph)) {
    const mayBreak =
      before === undefined ||
      (/[\s-]$/u.test(before.segment) && !/^\s/u.test(segment.segment)) ||
      (segment.isWordLike === true && ofSpacelessScript.test(before.segment + segment.segment))
    if (mayBreak) parts.push(segment.segment)
    else parts.push(`${parts.pop() ?? ''}${segment.segment}`)
    before = segment
  }
  return parts
}

/** The lines of a text that are at most so wide. A word that is wider than a line is broken between its characters. */
export const wrap = (text: string, width: number, widthOf: (part: string) => number): readonly string[] =>
  text.split('\n').flatMap((paragraph) => {
    const lines: string[] = []
    let line = ''
    let filled = 0
    const add = (part: string): void => {
      if (line !== '' && filled + widthOf(part.trimEnd()) > width) {
        lines.push(line)
        line = ''
        filled = 0
      }
      line += part
      filled += widthOf(part)
    }
    for (const part of partsOf(paragraph))
      if (widthOf(part.trimEnd()) <= width) add(part)
      else for (const { segment } of characters.segment(part)) add(segment)
    return [...lines, line].map((each) => each.trimEnd())
  })

// Its types describe a module with a default export; what Node imports is that export itself.
const bidi = (bidiJs as unknown as typeof bidiJs.default)()

// Most lines: nothing in them has another direction or needs another font.
const elsewhere = /[\u0590-\u1fff\u202a-\u202e\u2066-\u2069\u2e80-\u{10ffff}]/u

/** The runs of a line as drawn, from left to right, in a document that is read from left to right (Unicode's UAX 9). */
export const runsOf = (line: string): readonly Run[] => {
  if (!elsewhere.test(line)) return [{ font: 'usual', text: line, isRightToLeft: false }]
  const embedding = bidi.getEmbeddingLevels(line, 'ltr')
  const mirrored = bidi.getMirroredCharactersMap(line, embedding.levels)
  const fontAt = fontsAlong(line)
  const runs: { font: FontName; level: number; first: number; last: number }[] = []
  for (const index of bidi.getReorderedIndices(line, embedding)) {
    const run = runs.at(-1)
    const level = embedding.levels[index] ?? 0
    const font = fontAt[index] ?? 'usual'
    if (run?.font === font && run.level === level && (index === run.last + 1 || index === run.first - 1)) {
      run.first = Math.min(run.first, index)
      run.last = Math.max(run.last, index)
    } else runs.push({ font, level, first: index, last: index })
  }
  const shown = (first: number, last: number): string =>
    line
      .slice(first, last + 1)
      .replaceAll(/./gsu, (character, offset: number) => mirrored.get(first + offset) ?? character)
  return runs.map(({ font, level, first, last }) => ({
    font,
    text: shown(first, last),
    isRightToLeft: level % 2 === 1,
  }))
}

/** The font at each UTF-16 unit of a line. */
const fontsAlong = (line: string): readonly FontName[] => {
  let before: FontName | undefined
  return Array.from(line).flatMap((character) => {
    before = fontOf(character, before)
    return Array<FontName>(character.length).fill(before)
  })
}
