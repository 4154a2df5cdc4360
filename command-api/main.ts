import { runRole } from '#infra/run-role.ts'

runRole('command-api', async () => {
  const { followingProjections } = await import('#infra/start-role.ts')
  const { startCommandApi } = await import('./command-api.ts')
  return followingProjections(startCommandApi)
})
