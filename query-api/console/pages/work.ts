import { waiting } from '../list.ts'
import { readWork, tally } from '../live.ts'
import type { Asked, Page } from '../page.ts'
import { empty } from '../show.ts'
import type { View } from '../view.ts'
import { applications } from './applications.ts'
import { approvals } from './approvals.ts'
import { claims } from './claims.ts'
import { ingests } from './ingests.ts'
import { dueLeads, leads } from './leads.ts'
import { premiums } from './premiums.ts'

/** The lists from which something waits, by its name in the API, which says who has it to do. */
const parts: Readonly<Record<string, (asked: Asked, tally: View) => Promise<View>>> = {
  due_leads: (asked, all) => waiting('Leads with something to do, the most urgent first', dueLeads, asked, {}, all),
  open_leads: (asked, all) => waiting('Leads that are open', leads, asked, { status: 'open' }, all),
  held_ingests: (asked, all) => waiting('Sent leads that are held', ingests, asked, { status: 'held' }, all),
  ingests_in_review: (asked, all) =>
    waiting('Sent leads of whom nobody knows who it is', ingests, asked, { status: 'needs_review' }, all),
  referred_applications: (asked, all) =>
    waiting('Applications with the team', applications, asked, { status: 'referred' }, all),
  open_claims: (asked, all) => waiting('Claims that are open', claims, asked, { status: 'open' }, all),
  approved_claims: (asked, all) =>
    waiting('Claims that are approved, and to be paid', claims, asked, { status: 'approved' }, all),
  failed_premiums: (asked, all) => waiting('Premiums that have failed', premiums, asked, { status: 'failed' }, all),
  waiting_approvals: (asked, all) =>
    waiting('Acts that wait for a second user', approvals, asked, { status: 'waiting' }, all),
}

/** All that waits for whoever is signed in, by their roles. */
export const workPage: Page = {
  address: '/console/organisations/:organisation_id/work',
  show: async (asked) => {
    const work = await readWork(asked)
    const shown = await Promise.all(work.map(async (each) => parts[each.work]?.(asked, tally(each))))
    return {
      title: 'Work',
      main:
        shown.length === 0 ? empty('Your roles have no work of their own: look into the areas on the left.') : shown,
    }
  },
}
