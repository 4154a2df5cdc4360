import { makeLeases } from '#infra/consumers/lease.ts'
import { watchHeldBack } from '#infra/event-log/postgres/held-back.ts'
import { checkConsumers, checkOutage, type Parts, type Role } from '#infra/role-parts.ts'
import type { Progress } from '#infra/consumers/progress.ts'
import { allProjections } from './all-projections.ts'
import { keepAuditLog } from './audit/audit-log.ts'
import { followErasedPeople, followErasedRecords } from './erased-people.ts'
import { sweepReplays } from './audit/sweep-replays.ts'
import { followRebuildRequests } from './requested-rebuilds.ts'
import { runProjections } from './runner.ts'

type ProjectionsParts = Omit<Parts, 'progress'> & { readonly progress: Pick<Progress, 'passed' | 'forget'> }

export const startProjections = async (parts: ProjectionsParts): Promise<Role> => {
  const shared = { ...parts, role: 'projections' as const, leases: makeLeases(parts.pool, { log: parts.log }) }
  const running = [
    ...(await runProjections(allProjections, shared)),
    followErasedPeople(allProjections, shared),
    followErasedRecords(allProjections, shared),
  ]
  const audit = keepAuditLog(shared)
  const rebuilding = followRebuildRequests(allProjections, shared)
  const sweeping = sweepReplays(shared)
  const watching = parts.config.EVENT_LOG === 'postgres' ? watchHeldBack(parts) : undefined
  return {
    checks: async () => [checkOutage(parts), ...(await checkConsumers(parts, running)), audit.check()],
    stop: async () => {
      await Promise.all(running.map(async ({ finished }) => finished))
      await Promise.all([audit.finished, rebuilding.finished, sweeping, watching])
    },
  }
}
