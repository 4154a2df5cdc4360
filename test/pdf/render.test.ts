import { inflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { renderPdf } from '#infra/pdf/render.ts'

/** A document that has this text in each of its parts. */
const documentOf = async (text: string): Promise<Buffer> =>
  renderPdf({
    title: text,
    author: text,
    created_at: '2026-06-01T09:00:00.000Z',
    blocks: [
      { kind: 'heading', text },
      { kind: 'paragraph', text },
      { kind: 'facts', facts: [[text, text]] },
    ],
  })

/** The numbers of the glyphs that are printed, line by line. 0000 is the box of a character that the font does not have. */
const linesOf = (pdf: Buffer): readonly (readonly string[])[] =>
  [...pdf.toString('latin1').matchAll(/\/FlateDecode\n>>\nstream\n([^]*?)\nendstream/g)]
    .map(([, packed = '']) => inflateSync(Buffer.from(packed, 'latin1')).toString('latin1'))
    .filter((drawn) => drawn.includes(' TJ'))
    .flatMap((drawn) => [...drawn.matchAll(/\[(.*)\] TJ/g)])
    .map(([, printed = '']) =>
      [...printed.matchAll(/<([0-9a-f]+)>/g)].flatMap(([, run = '']) => run.match(/.{4}/g) ?? []),
    )

const box = '0000'

test('a character that no font has is a box', async () => {
  expect(linesOf(await documentOf('one\u{10ffff}two')).flat()).toContain(box)
})

test('a control character is printed as a space', async () => {
  const spaced = await documentOf('one two')

  expect(linesOf(spaced)).toHaveLength(6)
  expect(linesOf(spaced).flat()).not.toContain(box)
  expect((await documentOf('one\ttwo')).equals(spaced)).toBe(true)
})

test.each(['\n', '\r\n', '\r'])('%j begins another line, without a box', async (ending) => {
  const lines = linesOf(await documentOf(`one${ending}two`))

  expect(lines).toHaveLength(12)
  expect(lines.flat()).not.toContain(box)
})

test.each([
  ['Chinese', '王小明 陳大文'],
  ['Japanese', 'さくら 山田カズ、'],
  ['Korean', '김민준'],
  ['Devanagari', 'क्षत्रिय शर्मा।'],
  ['Thai', 'สมชาย ใจดี'],
  ['Arabic', 'محمد عبد الله'],
  ['Hebrew', 'שלום כהן'],
  ['Greek and Cyrillic', 'Ελένη Пётр'],
])('a name in %s is printed without a box', async (_, name) => {
  expect(linesOf(await documentOf(name)).flat()).not.toContain(box)
})

test('letters of Arabic are joined: one that stands twice in a name has two forms', async () => {
  const [, joined = []] = linesOf(await documentOf('محمد'))
  const [, apart = []] = linesOf(await documentOf('م ح م د'))

  expect(new Set(joined).size).toBe(4)
  expect(new Set(apart).size).toBe(4)
  expect(apart).toHaveLength(7)
})

test.each(['one 😀 two', 'one 👩‍👩‍👧 two', 'one😀two', 'one 🇬🇧👍🏽 two', 'one ✂️ two'])(
  'of %j the pictures are left out, with a space',
  async (text) => {
    expect((await documentOf(text)).equals(await documentOf('one two'))).toBe(true)
  },
)

test('an accent that is sent apart from its letter is printed as one letter', async () => {
  expect((await documentOf('Zoe\u0308')).equals(await documentOf('Zoë'))).toBe(true)
})
