import { runRole } from '#infra/run-role.ts'
import { startProjections } from './projections.ts'

runRole('projections', startProjections)
