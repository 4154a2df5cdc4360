import { followProgress } from '#infra/consumers/shared-progress.ts'
import { runRole } from '#infra/run-role.ts'
import { startCommandApi } from './command-api.ts'

runRole('command-api', async (parts) => {
  const progress = await followProgress(parts.progress, parts)
  const role = await startCommandApi({ ...parts, progress })
  return {
    ...role,
    stop: async () => {
      await role.stop()
      await progress.finished
    },
  }
})
