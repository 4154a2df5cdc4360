import { randomUUID } from 'node:crypto'
import { toStored } from '#domain/event.ts'
import { storedEvents } from '#domain/stored-events.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { organisation_id as ourOrganisation } from '../applications/release.ts'
import { active, collected, due, first, requested } from '../premiums/premium-builders.ts'

type Of = {
  readonly organisation_id?: OrganisationId
  readonly premium_id?: string
  readonly state?: 'active' | 'expired'
}

/** A policy with a premium that was collected; without more, one that has ended. */
export const policyWithPremium = async (
  eventLog: EventLog,
  { organisation_id = ourOrganisation, premium_id = first.premium_id, state = 'expired' }: Of = {},
): Promise<string> => {
  const id = randomUUID()
  const expired = { type: 'PolicyExpired', end_date: '2036-02-02' } as const
  const events = [...active, due, requested, collected, ...(state === 'expired' ? [expired] : [])].map((each) => ({
    id: randomUUID(),
    ...toStored(storedEvents, {
      ...each,
      ...('policy_id' in each && { policy_id: id, organisation_id }),
      ...('premium_id' in each && { premium_id }),
    }),
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
