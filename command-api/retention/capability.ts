import { leadsNotErased } from '../leads/live-leads.ts'
import { makeHoldOrErase } from '../erasures/hold-or-erase.ts'
import type { Capability } from '../capability.ts'
import { eraseRecordsAgain } from './erase-again.ts'
import { eraseDue } from './erase-due.ts'
import { retentionRoutes } from './routes.ts'
import { whenRecordErasureRequestedEraseRecord } from './when-record-erasure-requested-erase-record.ts'

export const retention: Capability = {
  routes: retentionRoutes,
  work: (side) => {
    const running = [eraseDue({ ...side, leads: leadsNotErased(side) }), eraseRecordsAgain(side)]
    return {
      reactions: [whenRecordErasureRequestedEraseRecord({ ...side, holdOrErase: makeHoldOrErase(side) })],
      running: {
        check: () => {
          const checks = running.map(({ check }) => check())
          return checks.find(({ ok, detail }) => !ok || detail !== undefined) ?? { name: 'retention', ok: true }
        },
        finished: Promise.all(running.map(({ finished }) => finished)),
      },
    }
  },
}
