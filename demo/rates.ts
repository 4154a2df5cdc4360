import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SingleBar } from 'cli-progress'
import { generateTable, tableDesigns, type TableDesign } from '#domain/rating/generator.ts'
import { toRateCsv } from '#domain/rating/rate-table-csv.ts'
import { readOptions } from '#infra/command-line.ts'

const usage = `Usage: npm run rates -- [--out DIR] [--only KEY]

Writes the demo's rate tables as CSV, one file for each table.

  --out DIR    where to write (demo/rates)
  --only KEY   only this table, one of ${tableDesigns.map(({ key }) => key).join(', ')}
`

const say = (text: string) => process.stdout.write(text)

const chosen = () => {
  const { values } = readOptions(usage, {
    options: {
      out: { type: 'string', default: join(import.meta.dirname, 'rates') },
      only: { type: 'string' },
    },
  })
  const designs = tableDesigns.filter(({ key }) => values.only === undefined || key === values.only)
  if (designs.length === 0) throw new Error(`There is no table ${values.only}.`)
  return { ...values, designs }
}

/** A bar that moves on a terminal, and a line for each finished table elsewhere. */
const progressOf = ({ key, ages }: TableDesign) => {
  if (!process.stdout.isTTY) return { step: () => {}, done: (lines: number) => say(`${key}: ${lines} rates\n`) }
  const bar = new SingleBar({ format: `${key.padEnd(20)} {bar} {percentage} %`, hideCursor: true })
  bar.start(ages.max - ages.min + 1, 0)
  return { step: () => bar.increment(), done: () => bar.stop() }
}

const write = async (design: TableDesign, folder: string) => {
  const { step, done } = progressOf(design)
  const table = generateTable(design, step)
  await writeFile(join(folder, `${design.key}.csv`), toRateCsv(table))
  done(Object.keys(table.cells).length)
}

try {
  const { out, designs } = chosen()
  await mkdir(out, { recursive: true })
  for (const design of designs) await write(design, out)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
  process.exitCode = 1
}
