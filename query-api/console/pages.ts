import { listPage } from './list.ts'
import type { Page } from './page.ts'
import { applicationPage, applications } from './pages/applications.ts'
import { approvalPage, approvals } from './pages/approvals.ts'
import { claims } from './pages/claims.ts'
import { deliveries, deliveryPage } from './pages/deliveries.ts'
import { historyPage } from './pages/history.ts'
import { ingestPage, ingests } from './pages/ingests.ts'
import { dueLeads, leadPage, leads } from './pages/leads.ts'
import { organisationsPage } from './pages/organisations.ts'
import { people, personPage } from './pages/people.ts'
import { policies, policyPage } from './pages/policies.ts'
import { premiums } from './pages/premiums.ts'
import { pricePage } from './pages/quotes.ts'
import { workPage } from './pages/work.ts'

export const pages: readonly Page[] = [
  organisationsPage,
  workPage,
  listPage(leads),
  listPage(dueLeads),
  leadPage,
  listPage(ingests),
  ingestPage,
  listPage(applications),
  applicationPage,
  pricePage,
  listPage(policies),
  policyPage,
  listPage(claims),
  listPage(premiums),
  listPage(approvals),
  approvalPage,
  listPage(deliveries),
  deliveryPage,
  listPage(people),
  personPage,
  historyPage,
]
