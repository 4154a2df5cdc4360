import { runRole } from '#infra/run-role.ts'
import { command, halvesOf } from './command.ts'

const [, , ...words] = process.argv

runRole(
  'command-api',
  async () => {
    const { followingProjections } = await import('#infra/start-role.ts')
    const { startHalves } = await import('./command-api.ts')
    return followingProjections(startHalves(halvesOf(words) ?? []))
  },
  command,
)
