import { randomBytes } from 'node:crypto'
import { dataOf, idOf, listOf, textOf, until, type Callers, type Example, type Examples } from './requests.ts'
import { prepareApprovals } from './approvals.ts'
import { prepareUsers } from './users.ts'

const slug = 'explorer'

const firm = `organisations:
  - slug: ${slug}
    name: Explorer firm
    active: true
    products:
      - slug: simple-life
        name: Simple Life
        product_type: term
        lifecycle_state: production
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

const signInProvider = (role: string) => ({
  issuer: 'https://login.example.com/tenant',
  client_id: 'coverstream',
  client_secret: 'example-secret',
  roles_of: [{ value: 'agents', roles: [role] }],
})

/**
 * The subjects of the operator's operations, in a firm of its own, so that nothing of the demo organisation is changed or
 * removed. The firm is the same for every page.
 */
export const prepareFirm = async ({ operator }: Callers): Promise<Examples> => {
  const added = randomBytes(4).toString('hex')
  await operator('POST', '/admin/v1/setup?apply=true', firm)
  const all = listOf(await operator('GET', '/admin/v1/organisations'))
  const id = textOf(
    all.find((each) => each['slug'] === slug),
    'id',
  )
  const own = `/admin/v1/organisations/${id}`
  const application = async (name: string) =>
    textOf(dataOf(await operator('POST', `${own}/api_applications`, { name, scopes: ['read', 'write'] })), 'client_id')
  const made = async (path: string, body: object) => idOf(await operator('POST', `${own}/${path}`, body))
  const connection = async (name: string) =>
    made('endpoint_connections', { name: `${name}-${added}`, base_url: 'https://receiver.example.com/hooks' })
  const endpoint_connection = `kept-${added}`
  const action = async (name: string) =>
    made('lifecycle_actions', {
      name: `${name} ${added}`,
      event_types: ['quote.accepted'],
      endpoint_connection,
    })
  const spring = `spring-${added}`
  const [kept, removed, keptConnection, removedConnection, campaign, programme_id] = await Promise.all([
    application('Kept'),
    application('To delete'),
    connection('kept'),
    connection('to-delete'),
    made('campaigns', { key: spring, name: 'Spring' }),
    made('programmes', { slug: `explorer-club-${added}`, name: 'Explorer club' }),
    operator('PUT', `${own}/provider_accounts/os_places`, { secret: 'example-key' }),
  ])
  const endable = `to-end-${added}`
  await operator('POST', '/admin/v1/operator_keys', { name: endable, scope: 'read_only' })
  const actions = [{ kind: 'webhook', endpoint_connection }]
  const [keptAction, removedAction, workflow_id] = await Promise.all([
    action('Kept'),
    action('To delete'),
    made('workflows', {
      name: `Kept ${added}`,
      trigger: { event_type: 'lead.created', campaign: spring },
      actions,
    }),
  ])

  const recovery = async () => {
    const asked = await operator('POST', `${own}/delivery_recoveries`, { since: new Date().toISOString() })
    const recovery_id = idOf(asked)
    await until(async () => operator('GET', `/admin/v1/delivery_recoveries/${recovery_id}`).catch(() => undefined))
    return recovery_id
  }
  const recovery_id = await recovery()
  const happened = await until(async () => {
    const [event] = listOf(await operator('GET', `/audit/v1/organisations/${id}/events?limit=1`))
    return event
  })

  const inFirm = (path: Readonly<Record<string, string>> = {}, requestBody?: object): Example => ({
    path: { organisation_id: id, ...path },
    ...(requestBody && { body: requestBody }),
  })
  return {
    postOperatorKeys: { body: { name: `explorer-${added}`, scope: 'read_only' } },
    deleteOperatorKey: { path: { name: endable, scope: 'read_only' } },
    postOrganisations: { body: { slug: `firm-${added}`, name: 'Another firm' } },
    getOrganisationSetUpChanges: inFirm({}),
    getOrganisationFiguresLeads: inFirm(),
    getOrganisationFiguresSales: inFirm(),
    getOrganisationFiguresPremiums: inFirm(),
    getOrganisationFiguresDeliveries: inFirm(),
    getAuditOrganisationEvents: inFirm(),
    getAuditOrganisationAccesses: inFirm(),
    getAuditOrganisationAsOf: inFirm(),
    getAuditOrganisationDifference: inFirm(),
    getAuditOrganisationListsPoliciesInForce: inFirm(),
    getAuditOrganisationListsSales: inFirm(),
    getAuditOrganisationListsContacts: inFirm(),
    getAuditOrganisationListsVulnerableCustomers: inFirm(),
    getAuditOrganisationListsTrialBalance: inFirm(),
    getAuditOrganisationRequest: inFirm({ request_id: textOf(happened, 'request_id') }),
    getAuditOrganisationEventDeliveries: inFirm({ event_id: textOf(happened, 'event_id') }),
    getAuditOrganisationRecordHistory: inFirm({ type: 'organisation', id }),
    patchOrganisation: inFirm({}, { name: 'Explorer firm, renamed' }),
    postOrganisationApiApplications: inFirm({}, { name: `Server ${added}`, scopes: ['read', 'write'] }),
    getOrganisationApiApplication: inFirm({ client_id: kept }),
    patchOrganisationApiApplication: inFirm({ client_id: kept }, { scopes: ['read'] }),
    deleteOrganisationApiApplication: inFirm({ client_id: removed }),
    postOrganisationApiApplicationRotateSecret: inFirm({ client_id: kept }),
    getOrganisationProductDraft: inFirm({ slug: 'simple-life' }),
    postOrganisationProductReleases: inFirm({ slug: 'simple-life' }),
    patchOrganisationProduct: inFirm({ slug: 'simple-life' }, { lifecycle_state: 'production' }),
    postOrganisationEndpointConnections: inFirm(
      {},
      { name: `receiver-${added}`, base_url: 'https://receiver.example.com/hooks' },
    ),
    getOrganisationEndpointConnection: inFirm({ endpoint_connection_id: keptConnection }),
    patchOrganisationEndpointConnection: inFirm(
      { endpoint_connection_id: keptConnection },
      { base_url: 'https://receiver.example.com/other' },
    ),
    postOrganisationEndpointConnectionRegenerateSecret: inFirm({ endpoint_connection_id: keptConnection }, {}),
    deleteOrganisationEndpointConnection: inFirm({ endpoint_connection_id: removedConnection }),
    getDeliveryRecovery: { path: { id: recovery_id } },
    postOrganisationDeliveryRecoveries: inFirm({}, { since: new Date().toISOString(), dry_run: true }),
    getOrganisationConnectionDeliverySettings: inFirm({ connection_id: keptConnection }),
    patchOrganisationConnectionDeliverySettings: inFirm({ connection_id: keptConnection }, { per_second: 20 }),
    postOrganisationConnectionPing: inFirm({ connection_id: keptConnection }, {}),
    getOrganisationSignInProviders: inFirm(),
    putOrganisationSignInProvider: inFirm({ provider_name: 'entra' }, signInProvider('leads')),
    deleteOrganisationSignInProvider: inFirm({ provider_name: 'gone' }),
    putSignInProvider: { path: { provider_name: 'entra' }, body: signInProvider('auditor') },
    deleteSignInProvider: { path: { provider_name: 'gone' } },
    putOrganisationProviderAccount: inFirm({ provider: 'ideal_postcodes' }, { secret: 'example-key' }),
    deleteOrganisationProviderAccount: inFirm({ provider: 'os_places' }),
    postOrganisationLifecycleActions: inFirm(
      {},
      { name: `Action ${added}`, event_types: ['quote.issued'], endpoint_connection },
    ),
    getOrganisationLifecycleAction: inFirm({ lifecycle_action_id: keptAction }),
    patchOrganisationLifecycleAction: inFirm({ lifecycle_action_id: keptAction }, { active: false }),
    deleteOrganisationLifecycleAction: inFirm({ lifecycle_action_id: removedAction }),
    getOrganisationWorkflows: inFirm(),
    postOrganisationWorkflows: inFirm(
      {},
      { name: `Workflow ${added}`, trigger: { event_type: 'activity.booking' }, actions },
    ),
    getOrganisationWorkflow: inFirm({ workflow_id }),
    patchOrganisationWorkflow: inFirm({ workflow_id }, { state: 'archived' }),
    postOrganisationCampaigns: inFirm({}, { key: `campaign-${added}`, name: 'Another campaign' }),
    getOrganisationCampaign: inFirm({ campaign_id: campaign }),
    patchOrganisationCampaign: inFirm({ campaign_id: campaign }, { name: 'Spring, renamed' }),
    patchOrganisationLeadIntake: inFirm({}, { blocked_sources: ['spam'] }),
    postSetup: { query: { apply: 'false' }, body: firm },
    postSetupPlan: { body: firm },
    getOrganisationSetup: { ...inFirm(), query: { format: 'json' } },
    getOrganisationPaymentAccounts: inFirm(),
    putOrganisationPaymentAccount: inFirm({ mode: 'test' }, { secret_key: 'sk_test_explorer' }),
    deleteOrganisationPaymentAccount: inFirm({ mode: 'live' }),
    postOrganisationProgrammes: inFirm({}, { slug: `club-${added}`, name: 'Another club' }),
    patchOrganisationProgramme: inFirm({ programme_id }, { name: 'Explorer club, renamed' }),
    postOrganisationUploadedLeads: inFirm(
      {},
      {
        upload: `leads-${added}.csv`,
        rows: [{ line: 2, fields: { email: `upload.${added}@example.com`, first_name: 'Ada', last_name: 'Finch' } }],
      },
    ),
    postOrganisationUploadedOutcomes: inFirm(
      {},
      {
        upload: `outcomes-${added}.csv`,
        rows: [
          { line: 2, fields: { email: `upload.${added}@example.com`, type: 'quoted', occurred_at: '2026-01-10' } },
        ],
      },
    ),
    ...(await prepareUsers(operator, id)),
    ...(await prepareApprovals(operator, id)),
    ...restOf(id),
  }
}

/** Operations of a firm that need nothing else. */
const restOf = (id: string): Examples =>
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
      'getOrganisationPipeline',
    ].map((operationId) => [operationId, { path: { organisation_id: id } }]),
  )
