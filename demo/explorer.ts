import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { demoApplication } from './demo.ts'

/** A request of the explorer that succeeds: what it fills in for an operation. */
type Example = {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: object | string
}

/** What the explorer of the demo signs in with, and a request for each operation that needs a record to exist. */
export type ExplorerDemo = {
  readonly client_id: string
  readonly client_secret: string
  readonly operator_key: string
  /** By operation id. */
  readonly examples: Readonly<Record<string, Example>>
}

const organisation_id = 'd3e00000-0000-4000-8000-000000000000'
const WithId = z.object({ data: z.object({ id: z.string() }) })
const Token = z.object({ access_token: z.string() })
const List = z.object({ data: z.array(z.looseObject({})) })

const answers = {
  smoker: 'no',
  alcohol_units: 6,
  hazardous_pursuits: false,
  height_cm: 178,
  weight_kg: 74.5,
  blood_pressure: 'none',
  serious_illness: 'none',
  family_history: false,
  occupation: 'Teacher',
}

const directDebit = { account_holder_name: 'Grace Okafor', sort_code: '20-00-00', account_number: '55779911' }

type Send = (method: string, path: string, body?: object | string) => Promise<unknown>

const callerOf =
  (origin: string, bearer: string): Send =>
  async (method, path, body) => {
    const type = typeof body === 'string' ? 'application/yaml' : 'application/json'
    const response = await fetch(`${origin}${path}`, {
      method,
      headers: { authorization: `Bearer ${bearer}`, 'content-type': type },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${await response.text()}`)
    return response.json()
  }

/** Applications of the demo organisation, each as far as the operations that follow need it. */
const prepareApplications = async (api: Send) => {
  const start = async (product_slug: string, more: object = {}) =>
    WithId.parse(await api('POST', '/api/v1/applications', { product_slug, journey_slug: 'standard', ...more })).data.id
  const customer = (name: string) => ({
    first_name: 'Grace',
    last_name: 'Okafor',
    email: `${name}.${randomBytes(4).toString('hex')}@example.com`,
    dob: '1992-03-10',
    postal_code: 'SW1A 1AA',
  })
  const complete = async (product: string) => {
    const id = await start(product, { customer: customer('explorer') })
    await api('PATCH', `/api/v1/applications/${id}`, { answers, cover_amount_pence: 25_000_000, term_years: 25 })
    return id
  }
  const priced = async () => {
    const id = await complete('term-life')
    return { id, quote: WithId.parse(await api('POST', `/api/v1/applications/${id}/quotes`)).data.id }
  }
  const accepted = async () => {
    const { id, quote } = await priced()
    await api('POST', `/api/v1/applications/${id}/accept_quote`, { quote_id: quote })
    return quote
  }
  const [started, guided, ready, joint, quoted, toPay, toConfirm] = await Promise.all([
    start('term-life'),
    start('term-life', { presentation_slug: 'guided' }),
    complete('term-life'),
    start('joint-term-life'),
    priced(),
    accepted(),
    accepted(),
  ])
  await api('POST', `/api/v1/quotes/${toConfirm}/direct_debit_details`, { direct_debit: directDebit })
  const ingest = WithId.parse(await api('POST', '/api/v1/crm/ingests', { source: 'explorer', text: 'Hello.' })).data.id
  return { started, guided, ready, joint, quoted, toPay, toConfirm, ingest }
}

const firm = (slug: string) => `organisations:
  - slug: ${slug}
    name: Explorer firm
    products:
      - slug: simple-life
        name: Simple Life
        product_type: term
        lifecycle_state: sandbox
        rate_tables: { level: 1 }
        covers:
          - cover_type: life
            rate_table: level
            sum_assured_min_pence: 1000000
            sum_assured_max_pence: 50000000
            age_at_entry_min: 18
            age_at_entry_max: 60
            term_years_min: 10
            term_years_max: 20
        journeys:
          - { slug: standard, name: On our web pages }
    rate_tables:
      - { key: level, version: 1, csv: "term,rate_e4\\n10,12000\\n20,14000\\n" }
`

/** A firm of its own for the operator's operations, so that nothing of the demo organisation is changed or removed. */
const prepareFirm = async (operator: Send) => {
  const slug = `explorer-${randomBytes(4).toString('hex')}`
  await operator('POST', '/admin/v1/setup?apply=true', firm(slug))
  const all = z.object({ data: z.array(z.object({ id: z.string(), slug: z.string() })) })
  const id = all.parse(await operator('GET', '/admin/v1/organisations')).data.find((each) => each.slug === slug)?.id
  const own = `/admin/v1/organisations/${id}`
  const idOf = async (path: string, body: object, key: string) => {
    const { data } = z.object({ data: z.looseObject({}) }).parse(await operator('POST', `${own}/${path}`, body))
    return z.string().parse(data[key])
  }
  const application = (name: string) => idOf('api_applications', { name, scopes: ['read', 'write'] }, 'client_id')
  const connection = (name: string) =>
    idOf('endpoint_connections', { name, base_url: 'https://receiver.example.com/hooks' }, 'id')
  const action = (name: string, endpoint_connection: string) =>
    idOf('lifecycle_actions', { name, event_types: ['quote.accepted'], endpoint_connection }, 'id')
  const [kept, removed] = await Promise.all([application('Kept'), application('To delete')])
  const [keptConnection, removedConnection] = await Promise.all([connection('kept'), connection('to-delete')])
  const [keptAction, removedAction] = await Promise.all([action('Kept', 'kept'), action('To delete', 'kept')])
  const campaign = await idOf('campaigns', { key: 'spring', name: 'Spring' }, 'id')
  await operator('PUT', `${own}/provider_accounts/os_places`, { secret: 'example-key' })
  return { id: id ?? '', slug, kept, removed, keptConnection, removedConnection, keptAction, removedAction, campaign }
}

/** Makes what the examples of the explorer are about. Each page has records of its own, so that every operation succeeds. */
export const prepareExplorer = async (origin: string, baseUrl: string, operator_key: string): Promise<ExplorerDemo> => {
  const client = await demoApplication()
  const form = { grant_type: 'client_credentials', ...client, scope: 'read write crm outcomes' }
  const body = new URLSearchParams({ ...form, resource: `${baseUrl}/api/v1` })
  const token = Token.parse(await (await fetch(`${origin}/oauth/token`, { method: 'POST', body })).json()).access_token
  const operator = callerOf(origin, operator_key)
  const [made, own] = await Promise.all([prepareApplications(callerOf(origin, token)), prepareFirm(operator)])
  const { data: deliveries } = List.parse(
    await operator('GET', `/admin/v1/deliveries?organisation_id=${organisation_id}`),
  )
  const { data: documents } = List.parse(
    await operator('GET', `/admin/v1/key_documents?organisation_id=${organisation_id}`),
  )

  const inFirm = (path: Readonly<Record<string, string>> = {}, requestBody?: object): Example => ({
    path: { organisation_id: own.id, ...path },
    ...(requestBody && { body: requestBody }),
  })
  const ofApplication = (id: string, requestBody?: object): Example => ({
    path: { id },
    ...(requestBody && { body: requestBody }),
  })
  const inDemo: Example = { query: { organisation_id } }
  const added = randomBytes(4).toString('hex')
  const examples: Record<string, Example> = {
    getToken: {
      body: { ...form, resource: `${baseUrl}/api/v1` },
    },
    getApplication: ofApplication(made.quoted.id),
    patchApplication: ofApplication(made.started),
    patchApplicationCustomer: ofApplication(made.started, {
      customer: { first_name: 'Grace', last_name: 'Okafor', email: `grace.${added}@example.com`, dob: '1992-03-10' },
    }),
    patchApplicationSoftCustomer: ofApplication(made.started),
    patchApplicationInterstitialChoice: ofApplication(made.guided),
    patchApplicationPartner: ofApplication(made.joint, {
      partner: { first_name: 'Sam', last_name: 'Okafor', dob: '1990-07-21' },
      answers: { ...answers, smoker: 'yes', nicotine_products: ['vape'] },
    }),
    postApplicationQuotes: ofApplication(made.ready, {}),
    getApplicationQuotes: ofApplication(made.quoted.id),
    postApplicationAcceptQuote: ofApplication(made.quoted.id, { quote_id: made.quoted.quote }),
    getQuote: ofApplication(made.quoted.quote),
    getQuoteBeforeYouBuy: ofApplication(made.quoted.quote),
    postQuoteDirectDebitDetails: ofApplication(made.toPay, { direct_debit: directDebit }),
    postQuoteConfirm: ofApplication(made.toConfirm),
    getCrmIngest: ofApplication(made.ingest),
    getKeyDocument: { path: { version_id: idIn(documents[0]) } },
    getKeyDocuments: inDemo,
    getDeliveries: inDemo,
    getDelivery: ofApplication(idIn(deliveries[0])),
    postOrganisations: { body: { slug: `firm-${added}`, name: 'Another firm' } },
    patchOrganisation: inFirm({}, { name: 'Explorer firm, renamed' }),
    postOrganisationApiApplications: inFirm({}, { name: `Server ${added}`, scopes: ['read', 'write'] }),
    getOrganisationApiApplication: inFirm({ client_id: own.kept }),
    patchOrganisationApiApplication: inFirm({ client_id: own.kept }, { scopes: ['read'] }),
    deleteOrganisationApiApplication: inFirm({ client_id: own.removed }),
    postOrganisationApiApplicationRotateSecret: inFirm({ client_id: own.kept }),
    postOrganisationProductReleases: inFirm({ slug: 'simple-life' }),
    patchOrganisationProduct: inFirm({ slug: 'simple-life' }, { lifecycle_state: 'production' }),
    postOrganisationEndpointConnections: inFirm(
      {},
      { name: `receiver-${added}`, base_url: 'https://receiver.example.com/hooks' },
    ),
    getOrganisationEndpointConnection: inFirm({ endpoint_connection_id: own.keptConnection }),
    patchOrganisationEndpointConnection: inFirm(
      { endpoint_connection_id: own.keptConnection },
      { base_url: 'https://receiver.example.com/other' },
    ),
    postOrganisationEndpointConnectionRegenerateSecret: inFirm({ endpoint_connection_id: own.keptConnection }, {}),
    deleteOrganisationEndpointConnection: inFirm({ endpoint_connection_id: own.removedConnection }),
    putOrganisationProviderAccount: inFirm({ provider: 'ideal_postcodes' }, { secret: 'example-key' }),
    deleteOrganisationProviderAccount: inFirm({ provider: 'os_places' }),
    postOrganisationLifecycleActions: inFirm(
      {},
      { name: `Action ${added}`, event_types: ['quote.issued'], endpoint_connection: 'kept' },
    ),
    getOrganisationLifecycleAction: inFirm({ lifecycle_action_id: own.keptAction }),
    patchOrganisationLifecycleAction: inFirm({ lifecycle_action_id: own.keptAction }, { active: false }),
    deleteOrganisationLifecycleAction: inFirm({ lifecycle_action_id: own.removedAction }),
    postOrganisationCampaigns: inFirm({}, { key: `campaign-${added}`, name: 'Another campaign' }),
    getOrganisationCampaign: inFirm({ campaign_id: own.campaign }),
    patchOrganisationCampaign: inFirm({ campaign_id: own.campaign }, { name: 'Spring, renamed' }),
    patchOrganisationLeadIntake: inFirm({}, { blocked_sources: ['spam'] }),
    postSetup: { query: { apply: 'false' }, body: firm(own.slug) },
  }
  return { ...client, operator_key, examples: { ...examples, ...restOf(own.id) } }
}

const idIn = (record: Readonly<Record<string, unknown>> | undefined): string =>
  z
    .string()
    .catch('')
    .parse(record?.['id'] ?? record?.['version_id'])

/** Operations of a firm that need nothing else. */
const restOf = (id: string): Readonly<Record<string, Example>> =>
  Object.fromEntries(
    [
      'getOrganisation',
      'postOrganisationActivate',
      'postOrganisationDeactivate',
      'getOrganisationApiApplications',
      'getOrganisationProducts',
      'getOrganisationEndpointConnections',
      'getOrganisationProviderAccounts',
      'getOrganisationLifecycleActions',
      'getOrganisationCampaigns',
      'getOrganisationLeadIntake',
    ].map((operationId) => [operationId, { path: { organisation_id: id } }]),
  )
