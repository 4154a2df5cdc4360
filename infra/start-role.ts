import type { RequestListener } from 'node:http'
import { clockCheck } from './clock.ts'
import type { Config } from './config.ts'
import { untilOwnVersions } from './consumers/own-versions.ts'
import { followProgress } from './consumers/shared-progress.ts'
import { erasedAgainCheck } from './crypto/erased-keys-file.ts'
import { masterKeysCheck } from './crypto/master-keys.ts'
import { openHealthPort } from './health-port.ts'
import { withPublicHealth, type Checks } from './http/health.ts'
import { idleUnderLoadMs, listen } from './http/listen.ts'
import { makeLog } from './log.ts'
import { nameMeantSettings } from './misspelt-settings.ts'
import { openParts, type Parts, type Role } from './role-parts.ts'
import type { Running } from './process.ts'
import { reportProcess } from './process-report.ts'

export type StartRole = (parts: Parts) => Promise<Role & { readonly app?: RequestListener }>

/**
 * Starts one role as a process of its own, with its health on HEALTH_PORT from the first moment, and an API on PORT as soon
 * as it can serve. While a store is away the process waits for it.
 */
export const startRole = async (
  name: string,
  start: StartRole,
  config: Config,
  signal: AbortSignal,
): Promise<Running> => {
  const log = makeLog(config.LOG_LEVEL, name)
  nameMeantSettings(log)
  const health = await openHealthPort(name, config)
  const { parts, close } = await openParts(config, log, signal, config.DATABASE_URL, 'many', health)
  const reporting = reportProcess({ ...parts, role: name, checks: health.checks })
  const { app, checks: checksOfRole, drain, stop } = await start(parts)
  const checks: Checks = async () =>
    (
      await Promise.all([
        masterKeysCheck(parts.pool, parts.keys).then((check) => [clockCheck(parts.clock), check]),
        erasedAgainCheck(parts.pool),
        checksOfRole(),
      ])
    ).flat()
  const server =
    app &&
    (await listen(withPublicHealth(health.checks, app), config.HOST, config.PORT, 'PORT', {
      idleMs: idleUnderLoadMs,
    }))
  health.started(checks)
  log.info({ port: server?.port ?? config.HEALTH_PORT }, 'role ready')

  return {
    drain: async () => {
      health.drain()
      drain?.()
      await server?.close()
    },
    stop: async () => {
      await stop()
      await reporting.finished
      await close()
      await health.close()
    },
  }
}

/** The start of a role that reads read models, once those of its version are there. */
export const readingOwnVersions =
  <Started extends Role>(start: (parts: Parts) => Promise<Started>) =>
  async (parts: Parts): Promise<Started> => {
    await untilOwnVersions(parts)
    return start(parts)
  }

/** The start of a role that waits for read models, which other processes make. */
export const followingProjections = <Started extends Role>(start: (parts: Parts) => Promise<Started>) =>
  readingOwnVersions(async (parts: Parts): Promise<Started> => {
    const progress = await followProgress(parts.progress, parts)
    const role = await start({ ...parts, progress })
    return {
      ...role,
      stop: async () => {
        await role.stop()
        await progress.finished
      },
    }
  })
