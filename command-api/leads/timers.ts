import type { FallDue } from '#domain/leads/commands.ts'
import { CustomerId } from '#domain/values.ts'
import type { Clock } from '#infra/clock.ts'
import type { Leads } from './live-leads.ts'
import type { Timer } from '../reactions/timers.ts'

type Deps = { readonly leads: Leads; readonly clock: Pick<Clock, 'now'> }

const acts: Readonly<Record<string, Exclude<FallDue['type'], 'FirstContactDue'>>> = {
  lead_dormancy: 'GoDormant',
  lead_next_action: 'NextActionDue',
  lead_snooze: 'SnoozeOver',
}

/** The timers of leads: next actions, first contacts, snoozes, and going dormant. */
export const leadTimers = ({ leads, clock }: Deps): readonly Timer[] => {
  const timer = (kind: string, actOf: () => FallDue): Timer => ({
    kind,
    fire: async ({ id }, context) =>
      leads.handle({ contact_id: CustomerId.parse(id), acts: [actOf()], by: { type: 'system', name: null } }, context),
  })
  return [
    // It acts as of the moment when it was due: how late that is noticed, only the clock can say.
    timer('lead_first_contact', () => ({ type: 'FirstContactDue', noticed_at: clock.now().toISOString() })),
    ...Object.entries(acts).map(([kind, type]) => timer(kind, () => ({ type }))),
  ]
}
