import { fileURLToPath } from 'node:url'

export type Weight = 'plain' | 'bold'

/** The path of a file of an installed package, also one that the package does not export by name. */
const fileBeside = (exported: string, path: string): string =>
  fileURLToPath(new URL(path, import.meta.resolve(exported)))

const thai = (weight: number): string => `@fontsource/noto-sans-thai/files/noto-sans-thai-thai-${weight}-normal.woff`
const devanagari = (weight: number): string =>
  `@fontsource/noto-sans-devanagari/files/noto-sans-devanagari-devanagari-${weight}-normal.woff`

/** The font of a script; it has a file for each weight. */
type Font = { readonly letters: RegExp; readonly files: Readonly<Record<Weight, string>> }

// The standard fonts of PDF have no letters beyond Western Europe, and names do. These have the letters of Europe, Arabic and Hebrew.
const usual = {
  letters: /^/u,
  files: {
    plain: fileBeside('dejavu-fonts-ttf/ttf/DejaVuSans.ttf', ''),
    bold: fileBeside('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf', ''),
  },
} satisfies Font

const fonts = {
  hangul: {
    letters: /[\p{Script=Hangul}]/u,
    files: {
      plain: fileBeside('@embedpdf/fonts-kr', '../fonts/NotoSansKR-Regular.otf'),
      bold: fileBeside('@embedpdf/fonts-kr', '../fonts/NotoSansKR-Bold.otf'),
    },
  },
  // Fullwidth forms belong to no script.
  han: {
    letters: /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Bopomofo}\uff01-\uffef]/u,
    files: {
      plain: fileBeside('@embedpdf/fonts-sc', '../fonts/NotoSansHans-Regular.otf'),
      bold: fileBeside('@embedpdf/fonts-sc', '../fonts/NotoSansHans-Bold.otf'),
    },
  },
  devanagari: {
    letters: /\p{scx=Devanagari}/u,
    files: { plain: fileBeside(devanagari(400), ''), bold: fileBeside(devanagari(700), '') },
  },
  thai: {
    letters: /\p{Script=Thai}/u,
    files: { plain: fileBeside(thai(400), ''), bold: fileBeside(thai(700), '') },
  },
  usual,
} as const satisfies Readonly<Record<string, Font>>

export type FontName = keyof typeof fonts

const names = Object.keys(fonts) as readonly FontName[]

/** Marks and joiners belong to the letter before them, in its font. */
const continues = /[\p{Script=Inherited}]/u

/** The font of a character, given that of the character before it. */
export const fontOf = (character: string, before: FontName | undefined): FontName =>
  before !== undefined && continues.test(character)
    ? before
    : (names.find((name) => fonts[name].letters.test(character)) ?? 'usual')

export const registeredFonts: readonly (readonly [name: string, file: string])[] = names.flatMap((name) =>
  (['plain', 'bold'] as const).map((weight) => [registeredAs(name, weight), fonts[name].files[weight]] as const),
)

export function registeredAs(name: FontName, weight: Weight): string {
  return `${name}-${weight}`
}
