import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** What a process holds in memory, in MB. */
export const memoryOf = async (pid: number): Promise<number> => {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)])
  return Number(stdout.trim()) / 1024
}
