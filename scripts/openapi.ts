import { rename, writeFile } from 'node:fs/promises'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { openApiDocument } from '#infra/http/openapi.ts'
import { createPool } from '#infra/postgres/postgres.ts'
import { noIntegrations } from '#domain/custom-integrations/record.ts'
import { pipelinesOf } from '#domain/pipeline/record.ts'
import { onlyDescribed } from '../command-api/capability.ts'
import { commandRoutes } from '../command-api/command-api.ts'
import { messageNewsSpec } from '../command-api/message-news/report-spec.ts'
import { inboundSpec } from '../command-api/custom-integrations/inbound-spec.ts'
import { webhookSpecs } from '../delivery-worker/lifecycle/webhook-specs.ts'
import { asOfRoutes } from '../query-api/audit/as-of/routes.ts'
import { queryRoutes } from '../query-api/query-api.ts'

const file = new URL('../query-api/documentation/openapi.json', import.meta.url)

const unused = (): never => {
  throw new Error('Only the specifications of the routes are read here.')
}

const eventLog: EventLog = {
  append: unused,
  read: unused,
  readAll: unused,
  subscribe: unused,
  head: unused,
  end: unused,
  outage: unused,
  measure: unused,
  close: unused,
}

const shown = { eventLog, progress: { wait: unused }, withinMs: 0 }

/** The routes of each API, made from parts that nothing can be done with. */
export const routesByApi = () => {
  const keys = deriveKeys(Buffer.alloc(32).toString('base64'))
  const pool = createPool('postgres://nowhere')
  const command = commandRoutes(onlyDescribed)
  const lookups = { openAccount: unused, twilio_lookup: unused, ideal_postcodes: unused, os_places: unused }
  const pipelines = pipelinesOf(new Map())
  const query = queryRoutes({
    keys,
    dataKeys: { of: unused, byId: unused },
    eventLog,
    storedLog: eventLog,
    pool,
    db: pool,
    baseUrl: '',
    lookups,
    pipelines,
    outcomeModels: unused,
    applications: new Map(),
    organisations: new Map(),
    integrations: noIntegrations(),
    programmes: new Map(),
    outreachSettings: new Map(),
    findReceived: unused,
    shown,
    followWaiting: unused,
  })
  const asOf = asOfRoutes({ pool, db: pool, eventLog, routesOver: unused })
  return { query: [...query, ...asOf.routes], command }
}

export const allRoutes = () => {
  const { query, command } = routesByApi()
  return [...query, ...command]
}

const tags = {
  Access: 'Access tokens, by the OAuth 2.0 client credentials grant.',
  Operator: 'What the operator of the service sets up and watches.',
  Catalogue: 'Products and their versions, as the operator keeps them.',
  Products: 'What a customer can apply for: products, journeys and their questions.',
  Applications: 'Applications for a product: answers, customer, second person and cover.',
  Quotes: 'Prices of applications, and what is done with them.',
  Checkout: 'What is still owed before a quote can be bought, and buying it.',
  Policies: 'Policies that were sold, their premiums and their timeline.',
  Lookups: 'Addresses, phone numbers and bank accounts, looked up while a customer types.',
  CRM: 'Leads and what happened to them, for systems of sales teams.',
  Loyalty: 'Memberships, points and rewards.',
  People: 'Pages on which people confirm what is theirs.',
  Outreach: 'Messages to people, and what they can do about them.',
  'Lifecycle events': 'What happened to applications, quotes and policies, as webhooks send it.',
  Leads: 'Leads that are sent in, and what became of each.',
  'Market quotes': 'Searches for prices of the whole market.',
  Webhooks: 'What the service sends to endpoints.',
}

/** The document that query-api serves, as the routes describe themselves now. */
export const currentDocument = (): string =>
  `${JSON.stringify(
    openApiDocument(
      allRoutes().map(({ spec }) => spec),
      webhookSpecs,
      [inboundSpec, messageNewsSpec],
      tags,
    ),
    null,
    2,
  )}\n`

/** At once, since other processes that start meanwhile read the file. */
const write = async (document: string): Promise<void> => {
  const unfinished = new URL(`${file.href}.${process.pid}`)
  await writeFile(unfinished, document)
  await rename(unfinished, file)
}

if (import.meta.main) await write(currentDocument())
