import { listPage } from './list.ts'
import type { Page } from './page.ts'
import { applicationPage, applications } from './pages/applications.ts'
import { approvalPage, approvals } from './pages/approvals.ts'
import { leadPage, leads } from './pages/leads.ts'
import { organisationsPage } from './pages/organisations.ts'
import { workPage } from './pages/work.ts'

export const pages: readonly Page[] = [
  organisationsPage,
  workPage,
  listPage(leads),
  leadPage,
  listPage(applications),
  applicationPage,
  listPage(approvals),
  approvalPage,
]
