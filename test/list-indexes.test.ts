import { expect, test } from 'vitest'
import { z } from 'zod'
import type { CheckedRequest } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { allProjections } from '../projections/all-projections.ts'
import { approvalRoutes } from '../query-api/approvals/routes.ts'
import { teamApplicationRoutes } from '../query-api/applications/team-routes.ts'
import { catalogueHistoryRoutes } from '../query-api/catalogue/admin-routes.ts'
import { keyDocumentRoutes } from '../query-api/catalogue/key-documents.ts'
import { claimListRoute } from '../query-api/claims/routes.ts'
import { recordErasureRoute } from '../query-api/retention/routes.ts'
import { legalHoldRoute } from '../query-api/legal-holds/routes.ts'
import { complaintReads } from '../query-api/complaints/routes.ts'
import { marketSearchRoute } from '../query-api/market-quotes/routes.ts'
import { messageNewsRoutes } from '../query-api/message-news/routes.ts'
import { listParameters } from '../query-api/newest-first.ts'
import { paymentNewsRoute } from '../query-api/payment-news/routes.ts'
import { paymentRoutes } from '../query-api/payments/routes.ts'
import { policyRoutes } from '../query-api/policies/routes.ts'
import { premiumListRoute } from '../query-api/premiums/routes.ts'
import { quoteAdminRoutes } from '../query-api/quotes/admin-routes.ts'
import { setUpChangeRoute } from '../query-api/set-up-changes/routes.ts'

const asked: string[] = []
const database = {
  query: async ({ text }: { readonly text: string }) => {
    asked.push(text)
    return { rows: [] }
  },
} as unknown as Database // lists ask for rows, and for nothing else
const deps = { pool: database, db: database, eventLog: { read: async () => [] } }

const lists = [
  ...approvalRoutes(deps),
  ...catalogueHistoryRoutes(deps),
  claimListRoute(deps),
  ...complaintReads(deps),
  legalHoldRoute(deps),
  recordErasureRoute(deps),
  ...keyDocumentRoutes(deps),
  marketSearchRoute(deps),
  ...messageNewsRoutes(deps),
  paymentNewsRoute(deps),
  ...paymentRoutes(deps),
  ...policyRoutes({ ...deps, files: { open: async () => undefined }, baseUrl: '' }),
  premiumListRoute(deps),
  ...quoteAdminRoutes(deps),
  setUpChangeRoute(deps),
  ...teamApplicationRoutes(deps),
].flatMap(({ spec: { address, query }, handle }) => {
  const parameters = query instanceof z.ZodObject ? Object.keys(query.shape) : []
  const filters = parameters.filter((name) => name !== 'organisation_id' && !Object.hasOwn(listParameters, name))
  // Of one record, from the log itself.
  const isFromLog = /\/(timeline|changes)$/.test(address)
  return parameters.includes('cursor') && !isFromLog ? [{ address, handle, filters: [undefined, ...filters] }] : []
})

/** So few have the same that they are sorted. */
const few: readonly (string | undefined)[] = [
  'applications.reference',
  'policies.policy_number',
  'quotes.application_id',
  'rate_tables.key',
]

test.each(lists.flatMap(({ filters, ...list }) => filters.map((filter) => ({ ...list, filter }))))(
  '$address by $filter is a page of an index, however much there is',
  async ({ handle, filter }) => {
    asked.length = 0
    const query = { limit: 50, ...(filter !== undefined && { [filter]: 'x' }) }
    await handle({ path: {}, query } as unknown as CheckedRequest)

    const parts =
      /from (\w+)\s+where .*? \(\$2, \$3\) (.*)\s+order by (\w+) desc, (\w+) desc/.exec(asked[0] ?? '') ?? []
    const [, table, conditions = '', time, key] = parts
    const columns = [...conditions.matchAll(/and (\w+) =/g)].map(([, column]) => column)
    expect(columns).toEqual(filter === undefined ? [] : [filter])
    const order = few.includes(`${table}.${filter}`) ? [] : [time, key]
    const wanted = ['organisation_id', ...columns, ...order]
    const indexes = allProjections.find(({ name }) => name === table)?.table.indexes ?? []
    expect(indexes.map((index) => index.split(', ').slice(0, wanted.length))).toContainEqual(wanted)
  },
)
