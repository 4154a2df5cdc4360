import { runRole } from '#infra/run-role.ts'
import { startDeliveryWorker } from './delivery-worker.ts'

runRole('delivery-worker', startDeliveryWorker)
