import { z } from 'zod'
import type { EndpointConnectionId } from '#domain/integrations/events.ts'
import { OrganisationId, type ProductId } from '#domain/values.ts'
import { LifecycleActionId } from '#domain/workflows/events.ts'
import {
  lifecycleAction,
  type LifecycleActionCommand,
  type LifecycleChoices,
} from '#domain/workflows/lifecycle-action.ts'
import { LifecycleAction } from '#domain/workflows/record.ts'
import { notFound } from '#domain/rejection.ts'
import { Problem } from '#infra/http/problem.ts'
import { route, type RequestFacts, type Route } from '#infra/http/route.ts'
import { productIdOf } from '../catalogue/ids.ts'
import { endpointConnectionIdOf } from '../integrations/ids.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { teamContext, impersonalRoute } from '../operator.ts'
import { pageByName, pageParameters } from '../page.ts'
import { connectionExists, DeclaredLifecycleAction, lifecycleActionIdOf, named, type NamedThings } from './choices.ts'
import type { LiveActions } from './live-actions.ts'

type Deps = NamedThings & {
  readonly writer: Writer
  readonly actions: LiveActions
}

const actionsAddress = '/admin/v1/organisations/:organisation_id/lifecycle_actions'
const oneAction = `${actionsAddress}/:lifecycle_action_id` as const

const ActionsPath = z.object({ organisation_id: OrganisationId })
const ActionPath = ActionsPath.extend({ lifecycle_action_id: LifecycleActionId })

const OneAction = z.object({ data: LifecycleAction })

const noAction = () => notFound('lifecycle action')

/** The operator's routes for the lifecycle events that are sent as webhooks. */
export const lifecycleActionRoutes = (deps: Deps): Route[] => {
  const { writer, actions, catalogue } = deps
  const { handle, load } = commandHandler(writer, lifecycleAction)

  const productNamed = (organisation_id: OrganisationId, slug: string | null): ProductId | null => {
    if (slug === null) return null
    if (!catalogue.slugs(organisation_id).includes(slug)) throw unknown('product', slug)
    return productIdOf(organisation_id, slug)
  }

  const connectionNamed = async (organisation_id: OrganisationId, name: string): Promise<EndpointConnectionId> => {
    if (await connectionExists(writer.log, organisation_id, name)) return endpointConnectionIdOf(organisation_id, name)
    throw unknown('endpoint_connection', name)
  }

  const change = async (
    { organisation_id, lifecycle_action_id: id }: z.output<typeof ActionPath>,
    command: LifecycleActionCommand,
    facts: RequestFacts,
  ): Promise<LifecycleAction> => {
    const known = await load(id)
    if (!known || known.organisation_id !== organisation_id) throw noAction()
    const { state } = await handle(id, command, teamContext(organisation_id, facts))
    return state ?? known
  }

  return [
    route(
      {
        ...impersonalRoute('owner'),
        method: 'get',
        address: actionsAddress,
        summary: 'List the lifecycle actions of an organisation, by name',
        path: ActionsPath,
        query: z.object(pageParameters),
        answers: { 200: z.object({ data: z.array(LifecycleAction).readonly(), next_cursor: z.string().nullable() }) },
      },
      async ({ path: { organisation_id }, query }) => {
        const own = [...actions.values()].filter((each) => each.organisation_id === organisation_id)
        return { status: 200, body: pageByName('lifecycle_actions', own, query) }
      },
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'post',
        address: actionsAddress,
        summary: 'Send lifecycle events of a product, or of all, over an endpoint connection from now on',
        path: ActionsPath,
        body: DeclaredLifecycleAction,
        errors: ['conflict'],
        answers: { 201: OneAction },
      },
      async ({ path: { organisation_id }, body, ...facts }) => {
        const { name } = body
        const lifecycle_action_id = lifecycleActionIdOf(organisation_id, name)
        const choices: LifecycleChoices = {
          product_id: productNamed(organisation_id, body.product),
          endpoint_connection_id: await connectionNamed(organisation_id, body.endpoint_connection),
          event_types: body.event_types,
          active: body.active,
        }
        const command = { type: 'CreateLifecycleAction', lifecycle_action_id, organisation_id, name, choices } as const
        const { state } = await handle(lifecycle_action_id, command, teamContext(organisation_id, facts))
        if (!state) throw noAction()
        return { status: 201, body: { data: state } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'get',
        address: oneAction,
        summary: 'Show a lifecycle action',
        path: ActionPath,
        answers: { 200: OneAction },
      },
      async ({ path: { organisation_id, lifecycle_action_id } }) => {
        const found = actions.get(lifecycle_action_id)
        if (!found || found.organisation_id !== organisation_id) throw noAction()
        return { status: 200, body: { data: found } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'patch',
        address: oneAction,
        summary: 'Change a lifecycle action: only the fields sent. One that is not active sends nothing more',
        path: ActionPath,
        body: z.object(named).partial(),
        answers: { 200: OneAction },
      },
      async ({ path, body: { product, endpoint_connection, event_types, active }, ...facts }) => {
        const { organisation_id } = path
        const choices: Partial<LifecycleChoices> = {
          ...(event_types && { event_types }),
          ...(active !== undefined && { active }),
          ...(product !== undefined && { product_id: productNamed(organisation_id, product) }),
          ...(endpoint_connection !== undefined && {
            endpoint_connection_id: await connectionNamed(organisation_id, endpoint_connection),
          }),
        }
        const changed = await change(path, { type: 'ChangeLifecycleAction', choices }, facts)
        return { status: 200, body: { data: changed } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'delete',
        address: oneAction,
        summary: 'Remove a lifecycle action; what waits to be sent for it is cancelled',
        path: ActionPath,
        answers: { 200: z.object({ data: z.object({ id: LifecycleActionId, removed: z.literal(true) }) }) },
      },
      async ({ path, ...facts }) => {
        const { id } = await change(path, { type: 'RemoveLifecycleAction' }, facts)
        return { status: 200, body: { data: { id, removed: true } } }
      },
    ),
  ]
}

const unknown = (field: string, name: string) =>
  new Problem('validation_failed', `Correct ${field}: there is none called ${name}.`, {
    fields: { [field]: `there is none called ${name}` },
  })
