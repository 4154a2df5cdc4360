import { runProcess } from '#infra/process.ts'
import { runRole } from '#infra/run-role.ts'
import { command } from './command.ts'

const [, , ...words] = process.argv

const run = async (signal: AbortSignal) => {
  const { runCommand } = await import('./run-command.ts')
  return runCommand(words, signal)
}

if (words.length > 0) runProcess('projections', run, command)
else
  runRole('projections', async () => {
    const { announceProgress } = await import('#infra/consumers/shared-progress.ts')
    const { startProjections } = await import('./projections.ts')
    return async (parts) => {
      const progress = announceProgress(parts)
      const role = await startProjections({ ...parts, progress })
      return {
        ...role,
        stop: async () => {
          await role.stop()
          await progress.finished
        },
      }
    }
  })
