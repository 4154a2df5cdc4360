import { readConfig } from '#infra/config.ts'
import { makeLog } from '#infra/log.ts'
import { readOwnSecrets, runningClusterUrl } from '#infra/local-installation.ts'
import { makeMetrics } from '#infra/metrics.ts'
import { openParts } from '#infra/role-parts.ts'
import { deliveryWorkerCommand } from './commands.ts'

/** Does what an operator asks for, beside the roles that may run meanwhile, and ends the process. */
export const runCommand = async (words: readonly string[], signal: AbortSignal): Promise<never> => {
  const secrets = await readOwnSecrets(readConfig(process.env).DATA_DIR)
  const config = readConfig(process.env, secrets)
  const { DATABASE_URL, DATA_DIR } = config
  const url = DATABASE_URL === 'embedded' ? await runningClusterUrl(DATA_DIR) : DATABASE_URL
  const { parts, close } = await openParts(config, makeLog('warn', 'delivery-worker'), signal, url, 'many', {
    metrics: makeMetrics(),
  })
  const code = await deliveryWorkerCommand(words, parts, process.stdout)
  await close()
  process.exit(code)
}
