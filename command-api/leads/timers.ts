import type { FallDue } from '#domain/leads/commands.ts'
import { CustomerId } from '#domain/values.ts'
import type { Leads } from '../live-leads.ts'
import type { Timer } from '../timers.ts'

const acts: Readonly<Record<string, FallDue['type']>> = {
  lead_first_contact: 'FirstContactDue',
  lead_dormancy: 'GoDormant',
  lead_next_action: 'NextActionDue',
  lead_snooze: 'SnoozeOver',
}

/** What falls due of leads: next actions, first contacts, snoozes, and going dormant. */
export const leadTimers = (leads: Leads): readonly Timer[] =>
  Object.entries(acts).map(([kind, type]) => ({
    kind,
    fire: async ({ id }, context) =>
      leads.handle({ contact_id: CustomerId.parse(id), acts: [{ type }], by: { type: 'system', name: null } }, context),
  }))
