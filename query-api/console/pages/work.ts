import { isOpenTo } from '../areas.ts'
import { waiting } from '../list.ts'
import type { Asked, Page } from '../page.ts'
import { empty } from '../show.ts'
import { applications } from './applications.ts'
import { approvals } from './approvals.ts'
import { claims } from './claims.ts'
import { ingests } from './ingests.ts'
import { dueLeads, leads } from './leads.ts'
import { premiums } from './premiums.ts'

/** The lists from which something waits, and for whom. */
const parts = [
  {
    roles: ['leads'],
    show: (asked: Asked) => waiting('Leads with something to do, the most urgent first', dueLeads, asked, {}),
  },
  {
    roles: ['leads'],
    show: (asked: Asked) => waiting('Leads that are open', leads, asked, { status: 'open' }),
  },
  { roles: ['leads'], show: (asked: Asked) => waiting('Sent leads that are held', ingests, asked, { status: 'held' }) },
  {
    roles: ['leads'],
    show: (asked: Asked) =>
      waiting('Sent leads of whom nobody knows who it is', ingests, asked, { status: 'needs_review' }),
  },
  {
    roles: ['underwriting'],
    show: (asked: Asked) => waiting('Applications with the team', applications, asked, { status: 'referred' }),
  },
  { roles: ['claims'], show: (asked: Asked) => waiting('Claims that are open', claims, asked, { status: 'open' }) },
  {
    roles: ['claims'],
    show: (asked: Asked) => waiting('Claims that are approved, and to be paid', claims, asked, { status: 'approved' }),
  },
  {
    roles: ['finance'],
    show: (asked: Asked) => waiting('Premiums that have failed', premiums, asked, { status: 'failed' }),
  },
  {
    roles: ['owner', 'policies', 'finance'],
    show: (asked: Asked) => waiting('Acts that wait for a second user', approvals, asked, { status: 'waiting' }),
  },
] as const

/** All that waits for whoever is signed in, by their roles. */
export const workPage: Page = {
  address: '/console/organisations/:organisation_id/work',
  show: async (asked) => {
    const own = parts.filter((part) => isOpenTo(part, asked.me))
    const shown = await Promise.all(own.map(async (part) => part.show(asked)))
    return {
      title: 'Work',
      main:
        shown.length === 0 ? empty('Your roles have no work of their own: look into the areas on the left.') : shown,
    }
  },
}
