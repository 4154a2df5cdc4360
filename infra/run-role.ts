import type { RequestListener } from 'node:http'
import { BadConfiguration, readConfig } from './config.ts'
import { withHealth } from './http/health.ts'
import { listen } from './http/http.ts'
import { makeLog } from './log.ts'
import { openParts, type Parts, type Role } from './parts.ts'
import { runProcess } from './process.ts'

/** Runs one role as a process of its own: an API on PORT, any other with its health alone on HEALTH_PORT. */
export const runRole = (
  name: string,
  start: (parts: Parts) => Promise<Role & { readonly app?: RequestListener }>,
): void => {
  runProcess(name, async (signal) => {
    const config = readConfig(process.env)
    if (config.DATABASE_URL === 'embedded')
      throw new BadConfiguration('DATABASE_URL: must name a PostgreSQL; only npm start brings one of its own')
    const log = makeLog(config.LOG_LEVEL, name)
    const { parts, close } = await openParts(config, log, signal, config.DATABASE_URL, 'many')
    const role = await start(parts)
    const port = role.app ? config.PORT : config.HEALTH_PORT
    const server = await listen(withHealth(parts.metrics, role.checks, role.app), config.HOST, port)
    log.info({ port: server.port }, 'role ready')

    return {
      stop: async () => {
        await server.close()
        await role.stop()
        await close()
      },
    }
  })
}
