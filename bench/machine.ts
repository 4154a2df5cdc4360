import { execFile } from 'node:child_process'
import { availableParallelism, cpus, release, totalmem } from 'node:os'
import { promisify } from 'node:util'
import { Client } from 'pg'
import type { Environment } from './environment.ts'

/** What the figures were measured on. */
export const describeMachine = async (environment: Environment): Promise<Readonly<Record<string, string>>> => {
  const client = new Client({ connectionString: await environment.database('facts') })
  await client.connect()
  const shown = async (name: string): Promise<string> => {
    const { rows } = await client.query<{ setting: string }>('select current_setting($1) as setting', [name])
    return rows[0]?.setting ?? ''
  }
  const names = ['server_version', 'fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers']
  const settings: [string, string][] = []
  for (const name of names) settings.push([`postgresql ${name}`, await shown(name)])
  await client.end()

  return {
    cores: `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown'}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GB`,
    system: `${process.platform} ${release()}`,
    node: process.version,
    commit: await commit(),
    ...Object.fromEntries(settings),
  }
}

const commit = (): Promise<string> =>
  promisify(execFile)('git', ['describe', '--always', '--dirty'], { cwd: import.meta.dirname }).then(
    ({ stdout }) => stdout.trim(),
    () => 'unknown',
  )
