import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')

/** The headings of a guide below which there are commands. */
const headingsWithCommands = (text: string): ReadonlySet<string> => {
  const found = new Set<string>()
  let heading = ''
  for (const [line] of text.matchAll(/^(?:```\w*\n[^]*?^```$|#+ .+)/gm))
    if (line.startsWith('#')) heading = line.replace(/^#+ /, '')
    else if (/^```(?:sh|bash|shell|console)\n/.test(line)) found.add(heading)
  return found
}

/** Run by a test that reads the guide in its own way, or that stands with what it needs (`test/erasures`, `test/approvals`, `test/users`,
 * `test/deploy.test.ts`). */
const readOtherwise = new Set([
  'changing.md The past, tried at length',
  'eventstoredb.md The user and its rights',
  'four-eyes.md With curl',
  'keys.md Erase a person',
  'keys.md Keep a person from being erased',
  'operate.md On Kubernetes',
  'retention.md See what would go',
  'users.md Keys',
  'users.md Signing in by a provider',
  'users.md The first owner, and the others',
  'users.md Users',
])

test('the commands of every guide are run by a test', async () => {
  const tests = (await readdir(import.meta.dirname)).filter((name) => name.endsWith('.test.ts'))
  const sources = await Promise.all(tests.map(async (name) => readFile(join(import.meta.dirname, name), 'utf8')))
  const guides = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md'))
  const commands = await Promise.all(
    guides.map(async (guide) => {
      const text = await readFile(join(root, 'docs', guide), 'utf8')
      return [...headingsWithCommands(text)].map((heading) => ({ guide, heading }))
    }),
  )
  const run = ({ guide, heading }: { guide: string; heading: string }) =>
    sources.some((source) => source.includes(`'docs/${guide}'`) && source.includes(`'${heading}'`))

  expect(commands.flat().length).toBeGreaterThan(15)
  expect(
    commands
      .flat()
      .filter((each) => !run(each))
      .map(({ guide, heading }) => `${guide} ${heading}`)
      .filter((each) => !readOtherwise.has(each)),
  ).toEqual([])
})
