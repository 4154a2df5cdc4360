import type { z } from 'zod'
import {
  lifecycleAction,
  type LifecycleActionCommand,
  type LifecycleChoices,
} from '#domain/workflows/lifecycle-action.ts'
import type { LifecycleAction } from '#domain/workflows/record.ts'
import { productIdOf } from '../catalogue/ids.ts'
import { endpointConnectionIdOf } from '../integrations/ids.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { isLeftOut } from '../setup-file/kept.ts'
import { namesIn } from '../setup-file/names.ts'
import {
  inOrderOf,
  reportRefusal,
  type SetupContext,
  type SetupSection,
  type SetupStep,
  type Whole,
} from '../setup-file/section.ts'
import type { LiveActions } from './live-actions.ts'
import type { Names, NamesOf } from './names-of.ts'
import { connectionExists, DeclaredLifecycleAction, lifecycleActionIdOf, type NamedThings } from './choices.ts'

type Deps = NamedThings & {
  readonly writer: Writer
  readonly actions: LiveActions
  readonly namesOf: NamesOf
}

/** The lifecycle events of products, and the connections over which they are sent. */
export const lifecycleActionsSection = (deps: Deps): SetupSection<DeclaredLifecycleAction> => {
  const { writer, catalogue, actions, namesOf } = deps
  const { handle, load, preview } = commandHandler(writer, lifecycleAction)

  const planOne = async (
    { name, product, endpoint_connection, event_types, active }: DeclaredLifecycleAction,
    written: unknown,
    { organisation_id, context }: SetupContext,
  ): Promise<SetupStep> => {
    const lifecycle_action_id = lifecycleActionIdOf(organisation_id, name)
    const existing = await load(lifecycle_action_id)
    const product_id = product === null ? null : productIdOf(organisation_id, product)
    const choices: LifecycleChoices = {
      product_id: existing && isLeftOut(written, 'product') ? existing.product_id : product_id,
      endpoint_connection_id: endpointConnectionIdOf(organisation_id, endpoint_connection),
      event_types,
      active: existing && isLeftOut(written, 'active') ? existing.active : active,
    }
    const command: LifecycleActionCommand = existing
      ? { type: 'ChangeLifecycleAction', choices }
      : { type: 'CreateLifecycleAction', lifecycle_action_id, organisation_id, name, choices }
    const events = await preview(lifecycle_action_id, command)
    return {
      what: `lifecycle action ${name}`,
      change: events.length === 0 ? 'none' : existing ? 'change' : 'create',
      details:
        events.length === 0
          ? []
          : [
              `sends ${event_types.join(', ')} of ${choices.product_id === null ? 'every product' : (product ?? 'its product')} to ${endpoint_connection}`,
              ...(choices.active ? [] : ['not active']),
            ],
      apply: async () => {
        await handle(lifecycle_action_id, command, context)
      },
    }
  }

  const reportUnknown = async (
    { product, endpoint_connection }: DeclaredLifecycleAction,
    index: number,
    setup: SetupContext,
  ): Promise<boolean> => {
    const { organisation_id, report, declared } = setup
    const slugs = [...catalogue.slugs(organisation_id), ...namesIn(declared('products'), 'slug')]
    const hasProduct = product === null || slugs.includes(product)
    const hasConnection =
      namesIn(declared('endpoint_connections'), 'name').includes(endpoint_connection) ||
      (await connectionExists(writer.log, organisation_id, endpoint_connection))
    if (!hasProduct) report([index, 'product'], `there is no product ${product}`)
    if (!hasConnection) report([index, 'endpoint_connection'], `there is no endpoint connection ${endpoint_connection}`)
    return !hasProduct || !hasConnection
  }

  return {
    key: 'lifecycle_actions',
    schema: DeclaredLifecycleAction.strict(),
    plan: async (declared, setup) => {
      const plans = declared.map(async (each, index) => {
        const earlier = declared.findIndex(({ name }) => name === each.name)
        if (earlier !== index) setup.report([index, 'name'], `is that of lifecycle_actions[${earlier}]`)
        const isUnknown = await reportUnknown(each, index, setup)
        if (earlier !== index || isUnknown) return undefined
        return reportRefusal(setup, [index], () => planOne(each, setup.declared('lifecycle_actions')[index], setup))
      })
      return (await Promise.all(plans)).filter((step) => step !== undefined)
    },
    exported: async ({ organisation_id }) => {
      const names = namesOf(organisation_id)
      const own = [...actions.values()].filter((each) => each.organisation_id === organisation_id)
      return inOrderOf(
        own.map((each) => writtenAs(each, names)),
        ({ name }) => name,
      )
    },
  }
}

const writtenAs = (
  { name, product_id, event_types, endpoint_connection_id, active }: LifecycleAction,
  names: Names,
): Whole<z.input<typeof DeclaredLifecycleAction>> => ({
  name,
  product: product_id === null ? null : names.product(product_id),
  event_types,
  endpoint_connection: names.endpoint_connection(endpoint_connection_id),
  active,
})
