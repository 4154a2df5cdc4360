import { listPage } from './list.ts'
import type { Page } from './page.ts'
import { applicationPage, applications } from './pages/applications.ts'
import { approvalPage, approvals } from './pages/approvals.ts'
import { claims } from './pages/claims.ts'
import { leadPage, leads } from './pages/leads.ts'
import { organisationsPage } from './pages/organisations.ts'
import { policies, policyPage } from './pages/policies.ts'
import { premiums } from './pages/premiums.ts'
import { workPage } from './pages/work.ts'

export const pages: readonly Page[] = [
  organisationsPage,
  workPage,
  listPage(leads),
  leadPage,
  listPage(applications),
  applicationPage,
  listPage(policies),
  policyPage,
  listPage(claims),
  listPage(premiums),
  listPage(approvals),
  approvalPage,
]
