import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { Problem } from '#infra/http/problem.ts'
import type { Log } from '#infra/log.ts'
import { demoApplication } from './demo.ts'
import { prepareAudit } from './explorer/audit.ts'
import { prepareComplaints } from './explorer/complaints.ts'
import { prepareApplications, preparePayments, preparePolicies } from './explorer/buying.ts'
import { prepareLeads } from './explorer/crm.ts'
import { prepareFirm } from './explorer/firm.ts'
import { prepareIntegrations } from './explorer/integrations.ts'
import { prepareMembers } from './explorer/loyalty.ts'
import { prepareOutreach } from './explorer/outreach.ts'
import { callerOf, demoOrganisation, inDemo, listOf, textOf, type Callers, type Examples } from './explorer/requests.ts'

/** The credentials of the demo's explorer, and a request for each operation that needs a record to exist. */
export type ExplorerDemo = {
  readonly client_id: string
  readonly client_secret: string
  readonly operator_key: string
  readonly examples: Examples
}

const Token = z.object({ access_token: z.string() })

/** The records that are there anyway. */
const findRecords = async ({ operator }: Callers): Promise<Examples> => {
  const list = async (name: string) =>
    listOf(await operator('GET', `/admin/v1/${name}?organisation_id=${demoOrganisation}`))
  const [deliveries, documents, releases, tables] = await Promise.all(
    ['deliveries', 'key_documents', 'releases', 'rate_tables'].map(list),
  )
  return {
    getKeyDocument: { path: { version_id: textOf(documents?.[0], 'version_id') } },
    getKeyDocuments: inDemo,
    getDeliveries: inDemo,
    getDeliveryConnections: inDemo,
    getDeliveryRecoveries: inDemo,
    getDelivery: { path: { id: textOf(deliveries?.[0], 'id') } },
    getReleases: inDemo,
    getRelease: { path: { id: textOf(releases?.[0], 'id') }, ...inDemo },
    getRateTables: inDemo,
    getRateTableVersion: {
      path: { key: textOf(tables?.[0], 'key'), version: String(tables?.[0]?.['version']) },
      ...inDemo,
    },
  }
}

/** A quote, or a day that was named, does not stay what it was when it was prepared. */
const freshMs = 15 * 60_000

/**
 * The examples that pages of the explorer fill in. Pages that only look share them; once something was pressed, the next page
 * gets other records, which are made at once, so that every operation succeeds and no page waits.
 */
export const explorerDemo = (prepare: () => Promise<ExplorerDemo>) => {
  let prepared: { readonly demo: Promise<ExplorerDemo>; readonly since: number; isShown: boolean } | undefined

  const renew = () => {
    const next = { demo: prepare(), since: Date.now(), isShown: false }
    next.demo.catch(() => {
      if (prepared === next) prepared = undefined
    })
    prepared = next
    return next
  }

  return {
    forPage: async (): Promise<ExplorerDemo> => {
      const shown = prepared && Date.now() - prepared.since < freshMs ? prepared : renew()
      shown.isShown = true
      return shown.demo
    },
    /** Sees every request, and notes when one of a page changes something. */
    pressed: ({ method, url = '', headers: { referer = '' } }: Pressed): void => {
      const isPage = URL.canParse(referer) && new URL(referer).pathname === '/api/v1/explorer'
      const changes = method !== 'GET' && !url.startsWith('/oauth/')
      if (isPage && changes && prepared?.isShown) renew()
    },
  }
}

type Pressed = Pick<IncomingMessage, 'method' | 'url'> & {
  readonly headers: Pick<IncomingMessage['headers'], 'referer'>
}

/** Makes what the examples of the explorer are about. */
export const prepareExplorer = async (
  origin: string,
  baseUrl: string,
  operator_key: string,
  log: Log,
): Promise<ExplorerDemo> => {
  const client = await demoApplication()
  const body = {
    grant_type: 'client_credentials',
    ...client,
    scope: 'read write crm outcomes',
    resource: `${baseUrl}/api/v1`,
  }
  const form = { method: 'POST', body: new URLSearchParams(body) }
  const response = await fetch(`${origin}/oauth/token`, form)
  if (!response.ok) throw new Problem('unavailable', 'The demo organisation cannot sign in: was its secret rotated?')
  const { access_token } = Token.parse(await response.json())
  const callers = { api: callerOf(origin, access_token), operator: callerOf(origin, operator_key) }
  // Whatever became of the demo organisation: where it has not what a part needs, the page opens without its examples.
  const prepared = async (prepare: (from: Callers) => Promise<Examples>): Promise<Examples> => {
    try {
      return await prepare(callers)
    } catch (error) {
      log.warn({ error }, 'examples of the explorer could not be prepared')
      return {}
    }
  }
  const made = await Promise.all(
    [
      prepareApplications,
      preparePayments,
      preparePolicies,
      prepareLeads,
      prepareMembers,
      prepareOutreach,
      prepareFirm,
      prepareIntegrations,
      prepareAudit,
      prepareComplaints,
    ].map(prepared),
  )
  // Deliveries are of applications that were made by now.
  const found = await prepared(findRecords)
  const examples = Object.fromEntries([{ getToken: { body } }, ...made, found].flatMap((each) => Object.entries(each)))
  return { ...client, operator_key, examples }
}
