import { readFile, writeFile } from 'node:fs/promises'
import { describeConfig } from '#infra/config.ts'

const file = new URL('../README.md', import.meta.url)
const [begin, end] = ['<!-- configuration: npm run readme -->', '<!-- /configuration -->']

const table = (): string => {
  const rows = describeConfig().map(({ name, byDefault, meaning }) => {
    const shown = byDefault === '' ? '' : `\`${byDefault}\``
    return `| \`${name}\` | ${shown} | ${meaning.replaceAll('|', '\\|')} |`
  })
  return ['| Variable | Default | Meaning |', '| --- | --- | --- |', ...rows].join('\n')
}

/** The README with its table of variables as the configuration declares them. */
export const readmeWithTable = (readme: string): string => {
  const [before, rest] = readme.split(begin)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) throw new Error(`README.md has no lines “${begin}” and “${end}”.`)
  return `${before}${begin}\n\n${table()}\n\n${end}${after}`
}

if (import.meta.main) await writeFile(file, readmeWithTable(await readFile(file, 'utf8')))
