import { inflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { renderPdf } from '#infra/pdf.ts'

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

const controls = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).filter((each) =>
  /\p{Cc}/u.test(each),
)

test('a tab, or any other control character, is printed as a space', async () => {
  const spaced = await documentOf('one two')
  expect(linesOf(spaced)).toHaveLength(6)
  expect(linesOf(spaced).flat()).not.toContain(box)
  expect(controls).toHaveLength(65)

  for (const control of controls.filter((each) => each !== '\n' && each !== '\r'))
    expect({ code: control.charCodeAt(0), isSpace: (await documentOf(`one${control}two`)).equals(spaced) }).toEqual({
      code: control.charCodeAt(0),
      isSpace: true,
    })
})

test.each(['\n', '\r\n', '\r'])('%j begins another line, without a box', async (ending) => {
  const lines = linesOf(await documentOf(`one${ending}two`))

  expect(lines).toHaveLength(12)
  expect(lines.flat()).not.toContain(box)
})
