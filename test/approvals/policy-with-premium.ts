import { randomUUID } from 'node:crypto'
import { toStored } from '#domain/event.ts'
import { storedEvents } from '#domain/stored-events.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { organisation_id } from '../applications/release.ts'
import { active, collected, due, requested } from '../premiums/premium-builders.ts'

/** A policy that has ended, with a premium that was collected. */
export const policyWithPremium = async (eventLog: EventLog): Promise<string> => {
  const id = randomUUID()
  const expired = { type: 'PolicyExpired', end_date: '2036-02-02' } as const
  const events = [...active, due, requested, collected, expired].map((each) => ({
    id: randomUUID(),
    ...toStored(storedEvents, each as never),
    metadata: {
      organisation_id,
      actor: { type: 'system', id: null } as const,
      correlation_id: 'seed',
      causation_id: null,
      occurred_at: '2026-02-19T09:00:00.000Z',
    },
  }))
  await eventLog.append(`policy-${id}`, 'no_stream', events)
  return id
}
