import { followingProjections, runRole } from '#infra/run-role.ts'
import { startCommandApi } from './command-api.ts'

runRole('command-api', followingProjections(startCommandApi))
