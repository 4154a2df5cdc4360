import { followingProjections, runRole } from '#infra/run-role.ts'
import { startQueryApi } from './query-api.ts'

runRole('query-api', followingProjections(startQueryApi))
