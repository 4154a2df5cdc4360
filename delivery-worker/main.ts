import { runProcess } from '#infra/process.ts'
import { runRole } from '#infra/run-role.ts'
import { command } from './command.ts'

const [, , ...words] = process.argv

const run = async (signal: AbortSignal) => {
  const { runCommand } = await import('./run-command.ts')
  return runCommand(words, signal)
}

if (words.length > 0) runProcess('delivery-worker', run, command)
else
  runRole('delivery-worker', async () => {
    const { readingOwnVersions } = await import('#infra/start-role.ts')
    const { startDeliveryWorker } = await import('./delivery-worker.ts')
    return readingOwnVersions(startDeliveryWorker)
  })
