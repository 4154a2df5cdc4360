import { z } from 'zod'
import type { Workflow } from '#domain/workflows/record.ts'
import { workflow, type WorkflowCommand } from '#domain/workflows/workflow.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { keptWhereLeftOut } from '../setup-file/kept.ts'
import {
  inOrderOf,
  reportRefusal,
  type SetupContext,
  type SetupSection,
  type SetupStep,
  type Whole,
} from '../setup-file/section.ts'
import { isDeclaredIn, namesIn } from '../setup-file/names.ts'
import type { LiveWorkflows } from './live-workflows.ts'
import type { Names, NamesOf } from './names-of.ts'
import { DeclaredWorkflow, resolveNames, workflowIdOf, type NamedTargets } from './workflow-choices.ts'

type Deps = {
  readonly writer: Writer
  readonly targets: NamedTargets
  readonly workflows: LiveWorkflows
  readonly namesOf: NamesOf
}

/** The actions that follow when something happens. */
export const workflowsSection = ({ writer, targets, workflows, namesOf }: Deps): SetupSection<DeclaredWorkflow> => {
  const { handle, load, preview } = commandHandler(writer, workflow)

  const planOne = async (
    { name, state, ...declared }: DeclaredWorkflow,
    index: number,
    setup: SetupContext,
  ): Promise<SetupStep | undefined> => {
    const { organisation_id, context, declared: declaredAt, report } = setup
    const workflow_id = workflowIdOf(organisation_id, name)
    const { unknown, ...found } = await resolveNames(
      targets,
      { organisation_id, workflow_id },
      declared,
      // An integration may be named together with its connection.
      (word, named) => isDeclaredIn(setup, word, word === 'integration' ? (named.split('/')[0] ?? named) : named),
    )
    for (const { path, reason } of unknown) report([index, ...path], reason)
    for (const [at, action] of declared.actions.entries()) {
      if (action.kind !== 'integration') continue
      const endpoints = endpointsOf(declaredAt('custom_integrations'), action.integration)
      if (endpoints?.includes(action.endpoint) === false)
        report([index, 'actions', at, 'endpoint'], endpointReason(action, endpoints))
    }
    if (unknown.length > 0) return undefined

    const existing = await load(workflow_id)
    const choices = keptWhereLeftOut({ ...found, state }, existing, declaredAt('workflows')[index])
    const command: WorkflowCommand = existing
      ? { type: 'ChangeWorkflow', choices }
      : { type: 'CreateWorkflow', workflow_id, organisation_id, name, choices }
    const events = await preview(workflow_id, command)
    return {
      what: `workflow ${name}`,
      change: events.length === 0 ? 'none' : existing ? 'change' : 'create',
      details: events.length === 0 ? [] : detailsOf({ name, ...declared, state: choices.state }),
      apply: async () => {
        await handle(workflow_id, command, context)
      },
    }
  }

  return {
    key: 'workflows',
    schema: DeclaredWorkflow.strict(),
    plan: async (declared, setup) => {
      const plans = declared.map(async (each, index) => {
        const earlier = declared.findIndex(({ name }) => name === each.name)
        if (earlier === index) return reportRefusal(setup, [index], () => planOne(each, index, setup))
        setup.report([index, 'name'], `is that of workflows[${earlier}]`)
        return undefined
      })
      return (await Promise.all(plans)).filter((step) => step !== undefined)
    },
    exported: async ({ organisation_id }) => {
      const names = namesOf(organisation_id)
      const own = [...workflows.values()].filter((each) => each.organisation_id === organisation_id)
      return inOrderOf(
        own.map((each) => writtenAs(each, names)),
        ({ name }) => name,
      )
    },
  }
}

const writtenAs = ({ name, trigger, actions, state }: Workflow, names: Names): WrittenWorkflow => {
  const { event_type, campaign_id, product_id } = trigger
  return {
    name,
    trigger: {
      event_type,
      campaign: campaign_id === null ? null : names.campaign(campaign_id),
      product: product_id === null ? null : names.product(product_id),
    },
    actions: actions.map((action): WrittenWorkflow['actions'][number] => {
      const { kind } = action
      switch (kind) {
        case 'webhook':
          return { kind, endpoint_connection: names.endpoint_connection(action.endpoint_connection_id) }
        case 'integration':
          return { kind, integration: names.integration(action.integration_connection_id), endpoint: action.endpoint }
        case 'outreach_stream':
          return { kind, stream: names.stream(action.outreach_stream_id) }
      }
    }),
    state,
  }
}
type WrittenWorkflow = Whole<z.input<typeof DeclaredWorkflow>>

const detailsOf = ({ trigger, actions, state }: DeclaredWorkflow): string[] => {
  const { event_type, campaign, product } = trigger
  const limit = campaign ?? product
  return [
    `on ${event_type}${limit === null ? '' : ` of ${limit}`}`,
    ...actions.map((action) => {
      switch (action.kind) {
        case 'webhook':
          return `sends it to ${action.endpoint_connection}`
        case 'integration':
          return `calls ${action.endpoint} of ${action.integration}`
        case 'outreach_stream':
          return `the person joins ${action.stream}`
      }
    }),
    ...(state === 'archived' ? ['archived'] : []),
  ]
}

/** The endpoints that an integration of the same file has; undefined where it declares none of this name. */
const endpointsOf = (integrations: readonly unknown[], integration: string): readonly string[] | undefined => {
  const [name = ''] = integration.split('/')
  const declared = integrations.find((each) => namesIn([each], 'name').includes(name.trim()))
  if (declared === undefined) return undefined
  return namesIn(DeclaredEndpoints.safeParse(declared).data?.outbound.endpoints ?? [], 'key')
}
const endpointReason = ({ integration }: { readonly integration: string }, endpoints: readonly string[]): string =>
  endpoints.length === 0
    ? `${integration} is inbound: only an outbound integration has endpoints`
    : `${integration} has the endpoints ${endpoints.join(', ')}`
const DeclaredEndpoints = z.object({ outbound: z.object({ endpoints: z.array(z.unknown()) }) })
