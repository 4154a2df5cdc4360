import { waiting } from '../list.ts'
import { readWork, type Waiting } from '../live.ts'
import type { Asked, Page } from '../page.ts'
import { empty } from '../show.ts'
import type { View } from '../view.ts'
import { applications } from './applications.ts'
import { waitingApprovals } from './approvals.ts'
import { claims } from './claims.ts'
import { deliveries } from './deliveries.ts'
import { ingests } from './ingests.ts'
import { dueLeads, leads } from './leads.ts'
import { premiums } from './premiums.ts'

/** The lists from which something waits, by its name in the API, which says who has it to do. */
const parts: Readonly<Record<string, (asked: Asked, counted: Waiting) => Promise<View>>> = {
  due_leads: async (...asked) =>
    waiting(
      {
        title: 'Leads with something to do, the most urgent first',
        list: dueLeads,
        none: 'Nothing is to be done for any lead.',
      },
      ...asked,
    ),
  open_leads: async (...asked) =>
    waiting(
      { title: 'Leads that are open', list: leads, narrowed: { status: 'open' }, none: 'No lead is open.' },
      ...asked,
    ),
  held_ingests: async (...asked) =>
    waiting(
      {
        title: 'Sent leads that are held',
        list: ingests,
        narrowed: { status: 'held' },
        none: 'No sent lead is held.',
      },
      ...asked,
    ),
  ingests_in_review: async (...asked) =>
    waiting(
      {
        title: 'Sent leads without a person',
        list: ingests,
        narrowed: { status: 'needs_review' },
        none: 'No sent lead waits for its person to be chosen.',
      },
      ...asked,
    ),
  referred_applications: async (...asked) =>
    waiting(
      {
        title: 'Applications that the team decides',
        list: applications,
        narrowed: { status: 'referred' },
        none: 'No application waits for a decision.',
      },
      ...asked,
    ),
  open_claims: async (...asked) =>
    waiting(
      { title: 'Claims that are open', list: claims, narrowed: { status: 'open' }, none: 'No claim is open.' },
      ...asked,
    ),
  approved_claims: async (...asked) =>
    waiting(
      {
        title: 'Claims that are approved, and to be paid',
        list: claims,
        narrowed: { status: 'approved' },
        none: 'No approved claim is to be paid.',
      },
      ...asked,
    ),
  failed_premiums: async (...asked) =>
    waiting(
      {
        title: 'Premiums that have failed',
        list: premiums,
        narrowed: { status: 'failed' },
        none: 'No premium has failed.',
      },
      ...asked,
    ),
  failed_deliveries: async (...asked) =>
    waiting(
      {
        title: 'Webhooks that have failed',
        list: deliveries,
        narrowed: { state: 'failed' },
        none: 'No webhook has failed.',
      },
      ...asked,
    ),
  waiting_approvals: async (asked, counted) => waiting(waitingApprovals(asked.me), asked, counted),
}

/** All that waits for whoever is signed in, by their roles. */
export const workPage: Page = {
  address: '/console/organisations/:organisation_id/work',
  show: async (asked) => {
    const work = await readWork(asked)
    const shown = await Promise.all(work.map(async (each) => parts[each.work]?.(asked, each)))
    return {
      title: 'Work',
      main:
        shown.length === 0 ? empty('Your roles have no work of their own: look into the areas on the left.') : shown,
    }
  },
}
