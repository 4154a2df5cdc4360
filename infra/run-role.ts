import { BadConfiguration, readConfig } from './config.ts'
import { runProcess, type Command } from './process.ts'
import type { StartRole } from './start-role.ts'

/**
 * Runs one role as a process of its own. What it consists of is loaded once its settings were read: who asks for help, or has
 * to correct a setting, does not wait for that. It is loaded before the database is migrated: a version that is not whole
 * must not keep the former one from starting again.
 */
export const runRole = (name: string, load: () => Promise<StartRole>, command?: Command): void => {
  const start = async (signal: AbortSignal) => {
    const config = readConfig(process.env)
    if (config.DATABASE_URL === 'embedded')
      throw new BadConfiguration('DATABASE_URL: must name a PostgreSQL; only npm start brings one of its own')
    const { startRole } = await import('./start-role.ts')
    return startRole(name, await load(), config, signal)
  }
  runProcess(name, start, command)
}
