import { z } from 'zod'
import { CustomIntegration, IntegrationConnection } from '#domain/custom-integrations/record.ts'
import { EndpointConnection } from '#domain/integrations/record.ts'
import { act, choicesOf, type Act } from '../act.ts'
import type { List } from '../list.ts'
import { apiOf, pageOf, type Asked, type Page } from '../page.ts'
import { badge, empty, facts, link, moment, section, text, type Fact } from '../show.ts'
import { h, type View } from '../view.ts'
import { setUpChanges } from './set-up-changes.ts'

const isOwner = ({ me }: Pick<Asked, 'me'>): boolean => me.roles.includes('owner')

const creation = (organisation_id: string): Act => ({
  title: 'Connect an endpoint',
  method: 'POST',
  address: apiOf(organisation_id, 'endpoint_connections'),
  shows: 'signing_secret',
  ask: 'The secret that its webhooks are signed with is shown once. Nothing is sent before a lifecycle action or a workflow names it.',
  fields: [
    { name: 'name', label: 'Name', kind: 'text', isRequired: true },
    {
      name: 'base_url',
      label: 'Address',
      kind: 'text',
      hint: 'Begins with https://. Webhooks are sent to exactly this address.',
      isRequired: true,
    },
  ],
})

export const endpointConnections: List<typeof EndpointConnection> = {
  title: 'Connections',
  path: 'endpoint_connections',
  api: 'endpoint_connections',
  item: EndpointConnection,
  filters: [],
  none: 'Nothing is connected yet: no webhook is sent.',
  acts: (asked) => (isOwner(asked) ? [creation(asked.organisation?.id ?? '')] : []),
  columns: (organisation_id) => [
    { title: 'Connection', show: ({ id, name }) => link(pageOf(organisation_id, `endpoint_connections/${id}`), name) },
    { title: 'Address', show: ({ base_url }) => h('code', {}, base_url) },
    { title: 'Changed', show: ({ updated_at }) => moment(updated_at) },
  ],
}

const Standings = z.object({
  data: z.array(
    z.object({
      connection_id: z.string(),
      standing: z.string(),
      failing_since: z.string().nullable(),
      disabled_at: z.string().nullable(),
      waiting: z.number(),
    }),
  ),
})
type Standing = z.infer<typeof Standings>['data'][number]

/** The way a connection does; undefined where nothing was sent over it. */
const standingOf = async ({ organisation, now }: Asked, id: string): Promise<Standing | undefined> => {
  const address = `/admin/v1/delivery_connections?organisation_id=${organisation?.id ?? ''}&limit=200`
  return (await now(address, Standings)).data.find(({ connection_id }) => connection_id === id)
}

const standingFacts = (standing: Standing | undefined): readonly Fact[] => {
  if (!standing) return [['Answers', 'nothing waits to be sent']]
  const { disabled_at, failing_since, waiting } = standing
  const state =
    disabled_at !== null
      ? badge('disabled', 'bad')
      : failing_since === null
        ? badge('in time', 'good')
        : badge('failing', 'wait')
  return [
    ['Answers', state],
    ['Waiting', String(waiting)],
    ['Fails since', moment(failing_since)],
    ['Disabled', moment(disabled_at)],
  ]
}

/** The acts that concern sending over a connection, of an endpoint or of an integration. */
const sendingActs = (
  organisation_id: string,
  id: string,
  standing: Standing | undefined,
  ping: Act,
): readonly Act[] => [
  ping,
  ...(standing?.disabled_at === null || standing === undefined
    ? []
    : [
        {
          title: 'Begin to send again',
          method: 'POST',
          address: apiOf(organisation_id, 'delivery_recoveries'),
          isKeyed: true,
          sends: { connection_id: id, missed: true },
          isCounted: true,
          ask: 'It is not disabled any more, and what failed since it began to fail is sent again.',
        } as const,
      ]),
]

const deliveriesOf = (organisation_id: string, id: string): View =>
  h('p', {}, link(pageOf(organisation_id, `deliveries?connection_id=${id}`), 'What was sent over it'))

const endpointActs = (organisation_id: string, { id, name, base_url }: EndpointConnection): readonly Act[] => {
  const address = apiOf(organisation_id, `endpoint_connections/${id}`)
  return [
    {
      title: 'Replace the signing secret',
      method: 'POST',
      address: `${address}/regenerate_secret`,
      shows: 'signing_secret',
      ask: 'The new secret is shown once. It signs at once, or when the time that you give for both is over.',
      fields: [
        {
          name: 'overlap_seconds',
          label: 'Seconds in which the one before goes on',
          kind: 'whole number',
          hint: 'Up to 30 days: 2592000. Left empty, it ends at once.',
        },
      ],
    },
    {
      title: 'Move it to another address',
      method: 'PATCH',
      address,
      ask: 'What waits to be sent goes to the new address too.',
      fields: [{ name: 'base_url', label: 'Address', kind: 'text', value: base_url, isRequired: true }],
    },
    {
      title: 'Remove it',
      method: 'DELETE',
      address,
      tone: 'danger',
      ask: `What waits to be sent to ${name} is cancelled, and nothing is sent there any more.`,
    },
  ]
}

/** An endpoint of the firm: how it answers, and its signing secret, which is shown once and never here. */
export const endpointConnectionPage: Page = {
  address: '/console/organisations/:organisation_id/endpoint_connections/:endpoint_connection_id',
  show: async (asked) => {
    const organisation_id = asked.organisation?.id ?? ''
    const id = asked.path['endpoint_connection_id'] ?? ''
    const [{ data: connection }, standing, changes] = await Promise.all([
      asked.read(apiOf(organisation_id, `endpoint_connections/${id}`), z.object({ data: EndpointConnection })),
      standingOf(asked, id),
      setUpChanges(asked, id),
    ])
    const ping: Act = {
      title: 'Send a test',
      method: 'POST',
      address: apiOf(organisation_id, `connections/${id}/ping`),
      ask: 'A webhook.ping is sent, signed as all others. What became of it stands among the deliveries.',
    }
    return {
      title: connection.name,
      main: h(
        'div',
        { class: 'record' },
        h(
          'div',
          {},
          facts([
            ['Address', h('code', {}, connection.base_url)],
            ...standingFacts(standing),
            ['The secret before signs until', moment(connection.former_secret_signs_until)],
            ['Made', moment(connection.created_at)],
          ]),
          deliveriesOf(organisation_id, id),
          changes,
        ),
        isOwner(asked) &&
          h(
            'div',
            {},
            section(
              'What next',
              [...sendingActs(organisation_id, id, standing, ping), ...endpointActs(organisation_id, connection)].map(
                act,
              ),
            ),
          ),
      ),
    }
  },
}

const stateOf = ({ revoked_at }: IntegrationConnection): View =>
  revoked_at === null ? badge('in use', 'good') : badge('revoked')

export const integrationConnections: List<typeof IntegrationConnection> = {
  title: 'Integrations',
  path: 'integration_connections',
  api: 'integration_connections',
  item: IntegrationConnection,
  filters: [],
  none: 'No other system is connected yet. The set-up file declares integrations and their connections.',
  columns: (organisation_id) => [
    {
      title: 'Connection',
      show: ({ id, name }) => link(pageOf(organisation_id, `integration_connections/${id}`), name),
    },
    { title: 'State', show: stateOf },
    { title: 'Of', show: ({ integration }) => integration },
    { title: 'Direction', show: ({ direction }) => (direction === 'inbound' ? 'posts to us' : 'is called by us') },
    { title: 'Changed', show: ({ updated_at }) => moment(updated_at) },
  ],
}

const secretActs = (address: string, { secrets }: IntegrationConnection): readonly Act[] =>
  secrets.map((name) => ({
    title: `Replace ${name}`,
    method: 'POST',
    address: `${address}/secrets`,
    ask: 'The secret counts at once, for all that is taken in or sent from now on.',
    fields: [{ name: `secrets.${name}`, label: 'The new secret', kind: 'text', isRequired: true }],
  }))

/** A connection of an integration: where the other system posts, or what is called. */
export const integrationConnectionPage: Page = {
  address: '/console/organisations/:organisation_id/integration_connections/:integration_connection_id',
  show: async (asked) => {
    const organisation_id = asked.organisation?.id ?? ''
    const id = asked.path['integration_connection_id'] ?? ''
    const address = apiOf(organisation_id, `integration_connections/${id}`)
    const { data: connection } = await asked.read(address, z.object({ data: IntegrationConnection }))
    const [{ data: integration }, standing, changes] = await Promise.all([
      asked.read(
        apiOf(organisation_id, `custom_integrations/${connection.custom_integration_id}`),
        z.object({ data: CustomIntegration }),
      ),
      standingOf(asked, id),
      setUpChanges(asked, id),
    ])
    const endpoints = integration.outbound?.endpoints.map(({ key }) => key) ?? []
    const ping: Act = {
      title: 'Send a test',
      method: 'POST',
      address: apiOf(organisation_id, `connections/${id}/ping`),
      ask: 'The endpoint is called as if something had happened: choose one that does no harm.',
      fields: [
        { name: 'endpoint', label: 'Endpoint', kind: 'choice', choices: choicesOf(endpoints), isRequired: true },
      ],
    }
    const revocation: Act = {
      title: 'Revoke it',
      method: 'POST',
      address: `${address}/revoke`,
      sends: {},
      tone: 'danger',
      ask: 'For ever: nothing is taken in or sent over it, and its secrets are of no use.',
    }
    return {
      title: connection.name,
      main: h(
        'div',
        { class: 'record' },
        h(
          'div',
          {},
          facts([
            ['State', stateOf(connection)],
            ['Of', connection.integration],
            ['Posts to', text(connection.delivery_url)],
            ['Calls', text(integration.outbound?.base_url)],
            ['Secrets that are set', connection.secrets.join(', ') || 'none'],
            ...(integration.outbound ? standingFacts(standing) : []),
          ]),
          deliveriesOf(organisation_id, id),
          h(
            'p',
            {},
            link(
              pageOf(organisation_id, `integration_logs?integration_connection_id=${id}`),
              'What came in and went out',
            ),
          ),
          changes,
        ),
        isOwner(asked) &&
          connection.revoked_at === null &&
          h(
            'div',
            {},
            section(
              'What next',
              [
                ...(integration.outbound ? sendingActs(organisation_id, id, standing, ping) : []),
                ...secretActs(address, connection),
                revocation,
              ].map(act),
              connection.secrets.length === 0 && empty('No secret of it is set.'),
            ),
          ),
      ),
    }
  },
}
