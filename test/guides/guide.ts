import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '..', '..')

/** The commands of a guide below a heading, block by block, as a reader copies them. */
export const commandsOf = async (guide: string, heading: string): Promise<readonly string[]> => {
  const text = await readFile(join(root, guide), 'utf8')
  const lines = text.split('\n')
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading)
  if (start === -1) throw new Error(`${guide} has no heading “${heading}”.`)
  const rest = lines.slice(start + 1)
  const end = rest.findIndex((line) => /^#{1,2} /.test(line))
  const section = rest.slice(0, end === -1 ? undefined : end).join('\n')
  return [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block)
}

type Shell = { readonly cwd: string; readonly environment: Readonly<Record<string, string | undefined>> }

/** Runs a block of commands as a shell does, up to the first that fails. Resolves to what it printed. */
export const runCommands = async (block: string, { cwd, environment }: Shell): Promise<string> => {
  const env = { ...process.env, ...environment }
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', block], { cwd, env })
  return stdout
}
