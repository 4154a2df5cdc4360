import { runRole } from '#infra/run-role.ts'

runRole('query-api', async () => {
  const { followingProjections } = await import('#infra/start-role.ts')
  const { startQueryApi } = await import('./query-api.ts')
  return followingProjections(startQueryApi)
})
