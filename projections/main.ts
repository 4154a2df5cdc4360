import { readConfig } from '#infra/config.ts'
import { makeLeases } from '#infra/consumers/lease.ts'
import { makeLog } from '#infra/log.ts'
import { makeMetrics } from '#infra/metrics.ts'
import { readOwnSecrets, runningClusterUrl } from '#infra/local-installation.ts'
import { openParts } from '#infra/parts.ts'
import { runProcess } from '#infra/process.ts'
import { announceProgress } from '#infra/consumers/shared-progress.ts'
import { toReader } from '#infra/shown-progress.ts'
import { runRole } from '#infra/run-role.ts'
import { command, projectionsCommand } from './commands.ts'
import { allProjections } from './all-projections.ts'
import { startProjections } from './projections.ts'

const [, , ...words] = process.argv

const runCommand = () => {
  runProcess(
    'projections',
    async (signal) => {
      const secrets = await readOwnSecrets(readConfig(process.env).DATA_DIR)
      const config = readConfig(process.env, secrets)
      const { DATABASE_URL, DATA_DIR } = config
      const url = DATABASE_URL === 'embedded' ? await runningClusterUrl(DATA_DIR) : DATABASE_URL
      const { parts, close } = await openParts(config, makeLog('warn', 'projections'), signal, url, 'many', {
        metrics: makeMetrics(),
      })
      const given = { ...parts, leases: makeLeases(parts.pool) }
      const code = await projectionsCommand(words, allProjections, given, toReader(process.stdout))
      await close()
      process.exit(code)
    },
    command,
  )
}

const run = () => {
  runRole('projections', async (parts) => {
    const progress = announceProgress(parts)
    const role = await startProjections({ ...parts, progress })
    return {
      ...role,
      stop: async () => {
        await role.stop()
        await progress.finished
      },
    }
  })
}

if (words.length > 0) runCommand()
else run()
