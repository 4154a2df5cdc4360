import { spawn } from 'node:child_process'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readOptions } from '#infra/command-line.ts'

const usage = `Usage: npm run shots

Takes a picture of each page of the console, as wide as a desk and a phone have it, in a Chromium, and lists them at the end of
docs/console.md. Ids and times differ from run to run.
`
readOptions(usage, { options: {} })

const docs = join(import.meta.dirname, '../docs')
const folder = join(docs, 'console')
await rm(folder, { recursive: true, force: true })
await mkdir(folder)

const run = spawn('vitest', ['run', 'test/console/console.test.ts', 'test/console/set-up.test.ts', '-t', 'axe'], {
  env: { ...process.env, SHOTS: folder },
  stdio: 'inherit',
})
const status = await new Promise<number | null>((resolve) => run.on('close', resolve))

/** Pictures of one page stand beside each other. */
const listed = async (): Promise<string> => {
  const files = (await readdir(folder)).toSorted()
  const pages = [...new Set(files.map((file) => file.replace(/-\d+\.webp$/, '')))]
  const shown = pages.map((page) => {
    const own = [`${page}-1280.webp`, `${page}-390.webp`].filter((file) => files.includes(file))
    const [role = '', ...words] = page.split('-')
    const title = `### ${role}: ${words.join(' ')}`
    return [title, own.map((file) => `![${role}: ${words.join(' ')}](console/${file})`).join('\n')].join('\n\n')
  })
  return shown.join('\n\n')
}

const guide = join(docs, 'console.md')
const heading = '## Pictures'

if (status === 0) {
  const [text = ''] = (await readFile(guide, 'utf8')).split(`${heading}\n`)
  const said =
    'Of each page, with the role that sees it so, at a desk and on a phone; `npm run shots` takes them again.'
  await writeFile(guide, `${text.trimEnd()}\n\n${heading}\n\n${said}\n\n${await listed()}\n`)
}
process.exitCode = status ?? 1
