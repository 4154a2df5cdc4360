import { expect, test } from 'vitest'
import { parseSetupFile } from '../../command-api/setup-file/file.ts'
import { yamlOf } from '../../command-api/setup-file/setup-yaml.ts'

const most = 10_000

/** Texts that mean something else in YAML, or that a reader of lines would cut up. */
const texts = [
  ...'yes|null|~||1.10|0o7|2027-01-01|<<|- x|*x &y|a: b # c|"quoted"|it’s'.split('|'),
  ...' lead|trail  \n  more\n\n|\n|\n\nx|  deep\nback|a\n---\n{"files":{}}\n|x\r\ny|tab\there'.split('|'),
  ..."\u2028\u0085line|👍|\u0007|it's".split('|'),
]
const keyed = Object.fromEntries(texts.map((text) => [text, { text, list: [text, null, true, 1.5, {}, []] }] as const))

test('whatever an item holds is read as it was', async () => {
  const own = { slug: 'odd', name: 'a: b # c' }
  const sections = { texts, things: [keyed, ...texts.map((text) => ({ text }))], nothing: [] }

  const written = (await yamlOf(own, sections, most * 10)) ?? ''

  const read = parseSetupFile(written)
  expect(read).toHaveProperty('content', { organisations: [{ ...own, ...sections }] })
  expect(written.split('\n---\n')).toHaveLength(1)
})

test('a file that is too long to be read is not written to its end', async () => {
  const long = { things: [{ text: 'x'.repeat(most) }, { text: 'y' }] }

  expect(await yamlOf({ slug: 'long' }, long, most)).toBeUndefined()
})
