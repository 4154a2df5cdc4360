import { listPage } from './list.ts'
import type { Page } from './page.ts'
import { accessesPage } from './pages/accesses.ts'
import { applicationPage, applications } from './pages/applications.ts'
import { apiApplicationPage, apiApplications } from './pages/api-applications.ts'
import { approvalPage, approvals } from './pages/approvals.ts'
import { campaignPage, campaigns } from './pages/campaigns.ts'
import { auditLogPage, checkpointsPage, eventPage } from './pages/audit-log.ts'
import { claims } from './pages/claims.ts'
import {
  endpointConnectionPage,
  endpointConnections,
  integrationConnectionPage,
  integrationConnections,
} from './pages/connections.ts'
import { deliveries, deliveryPage } from './pages/deliveries.ts'
import { erasures, erasuresPage } from './pages/erasures.ts'
import { figuresPage } from './pages/figures.ts'
import { historyPage } from './pages/history.ts'
import { ingestPage, ingests } from './pages/ingests.ts'
import { dueLeads, leadPage, leads, newLeads } from './pages/leads.ts'
import { consumerPage, operationsPage } from './pages/operations.ts'
import { organisationsPage } from './pages/organisations.ts'
import { people, personPage } from './pages/people.ts'
import { policies, policyPage } from './pages/policies.ts'
import { premiums } from './pages/premiums.ts'
import { draftJourneyPage, productDraftPage } from './pages/product-draft.ts'
import { productPage, products } from './pages/products.ts'
import { programmePage, programmes } from './pages/programmes.ts'
import { pricePage } from './pages/quotes.ts'
import { rateTablePage, rateTables } from './pages/rate-tables.ts'
import { integrationLogs } from './pages/integration-logs.ts'
import { recoveriesPage } from './pages/recoveries.ts'
import { journeyPage, releasePage } from './pages/releases.ts'
import { setUpPage } from './pages/set-up.ts'
import { setupFilePage } from './pages/setup-file.ts'
import { streamPage, streams } from './pages/streams.ts'
import { recordDifferencePage, recordHistoryPage, recordThenPage } from './pages/record-history.ts'
import { requestPage } from './pages/requests.ts'
import { workPage } from './pages/work.ts'
import { lifecycleActionPage, lifecycleActions, workflowPage, workflows } from './pages/workflows.ts'

export const pages: readonly Page[] = [
  organisationsPage,
  operationsPage,
  consumerPage,
  erasuresPage,
  listPage(erasures),
  checkpointsPage,
  workPage,
  figuresPage,
  listPage(leads),
  listPage(dueLeads),
  listPage(newLeads),
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
  recoveriesPage,
  listPage(endpointConnections),
  endpointConnectionPage,
  listPage(integrationConnections),
  integrationConnectionPage,
  listPage(integrationLogs),
  setUpPage,
  setupFilePage,
  listPage(products),
  productPage,
  productDraftPage,
  draftJourneyPage,
  releasePage,
  journeyPage,
  listPage(rateTables),
  rateTablePage,
  listPage(campaigns),
  campaignPage,
  listPage(workflows),
  workflowPage,
  listPage(lifecycleActions),
  lifecycleActionPage,
  listPage(streams),
  streamPage,
  listPage(programmes),
  programmePage,
  listPage(people),
  personPage,
  listPage(apiApplications),
  apiApplicationPage,
  historyPage,
  accessesPage,
  auditLogPage,
  eventPage,
  requestPage,
  recordHistoryPage,
  recordThenPage,
  recordDifferencePage,
]
