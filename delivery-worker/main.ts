import { readConfig } from '#infra/config.ts'
import { makeLog } from '#infra/log.ts'
import { readOwnSecrets, runningClusterUrl } from '#infra/local-installation.ts'
import { makeMetrics } from '#infra/metrics.ts'
import { openParts } from '#infra/parts.ts'
import { runProcess } from '#infra/process.ts'
import { readingOwnVersions, runRole } from '#infra/run-role.ts'
import { command, deliveryWorkerCommand } from './commands.ts'
import { startDeliveryWorker } from './delivery-worker.ts'

const [, , ...words] = process.argv

const runCommand = () => {
  runProcess(
    'delivery-worker',
    async (signal) => {
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
    },
    command,
  )
}

if (words.length > 0) runCommand()
else runRole('delivery-worker', readingOwnVersions(startDeliveryWorker))
