import { z } from 'zod'
import { canonicalJson } from '#domain/canonical-json.ts'
import { CampaignKey } from '#domain/campaigns/events.ts'
import { Key } from '#domain/pipeline/events.ts'
import { Slug, type OrganisationId } from '#domain/values.ts'
import {
  TriggerEventType,
  WorkflowAction,
  WorkflowId,
  WorkflowState,
  WorkflowTrigger,
} from '#domain/workflows/events.ts'
import type { Workflow } from '#domain/workflows/record.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { derivedId } from '#infra/ids.ts'
import { outreachStreamIdOf } from '../outreach/ids.ts'
import { campaignIdOf } from '../campaigns/ids.ts'
import { productIdOf } from '../catalogue/ids.ts'
import { namedConnectionIdOf } from '../custom-integrations/ids.ts'
import { endpointConnectionIdOf } from '../integrations/ids.ts'
import type { Catalogue } from '../catalogue/live-catalogue.ts'
import { connectionExists } from './choices.ts'

const DeclaredTrigger = z.object({
  event_type: TriggerEventType,
  campaign: CampaignKey.nullable()
    .default(null)
    .describe('Of an event of a lead: only those of this campaign, by its key; null: all.'),
  product: Slug.nullable()
    .default(null)
    .describe('Of a lifecycle event: only those of this product, by its slug; null: all.'),
})

const DeclaredAction = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('webhook'),
    endpoint_connection: z.string().describe('Where the event is sent, by the name of the connection.'),
  }),
  z.object({
    kind: z.literal('integration'),
    integration: z
      .string()
      .describe('The custom integration that is called, by its name; or name/connection, where that is not main.'),
    endpoint: Key.describe('Which of its endpoints.'),
  }),
  z.object({
    kind: z.literal('outreach_stream'),
    stream: z.string().describe('The outreach stream that the person joins, by its slug.'),
  }),
])
type DeclaredAction = z.output<typeof DeclaredAction>

/** The settings of a workflow, by the names of things. */
export const chosen = {
  trigger: DeclaredTrigger,
  actions: z.array(DeclaredAction).min(1).max(20),
  state: WorkflowState,
}

/** A workflow of a set-up file, or of a request that creates one. */
export const DeclaredWorkflow = z.object({
  name: z.string().trim().min(1).max(200),
  ...chosen,
  state: chosen.state.default('active'),
})
export type DeclaredWorkflow = z.output<typeof DeclaredWorkflow>

/** A workflow is known by its name within the organisation: its stream is the index of names. */
export const workflowIdOf = (organisation_id: OrganisationId, name: string): WorkflowId =>
  WorkflowId.parse(derivedId('workflow', organisation_id, name))

/** A kind of thing that an action needs, found by its name. */
type Named = {
  readonly idOf: (organisation_id: OrganisationId, name: string) => string
  readonly exists: (organisation_id: OrganisationId, name: string) => Promise<boolean>
}

/** The kinds that workflows may name, by the word that the set-up file and requests use for them. */
export type NamedTargets = Readonly<
  Record<'campaign' | 'product' | 'endpoint_connection' | 'integration' | 'stream', Named>
>

export const namedTargets = (log: EventLog, catalogue: Pick<Catalogue, 'slugs'>): NamedTargets => ({
  campaign: {
    idOf: campaignIdOf,
    exists: async (organisation_id, key) =>
      (await log.read(`campaign-${campaignIdOf(organisation_id, key)}`, { limit: 1 })).length > 0,
  },
  product: {
    idOf: productIdOf,
    exists: async (organisation_id, slug) => catalogue.slugs(organisation_id).includes(slug),
  },
  endpoint_connection: {
    idOf: endpointConnectionIdOf,
    exists: async (organisation_id, name) => connectionExists(log, organisation_id, name),
  },
  integration: {
    idOf: namedConnectionIdOf,
    exists: async (organisation_id, name) => {
      const stream = `integration_connection-${namedConnectionIdOf(organisation_id, name)}`
      const [last] = await log.read(stream, { direction: 'backwards', limit: 1 })
      return last !== undefined && last.type !== 'IntegrationConnectionRevoked'
    },
  },
  stream: {
    idOf: outreachStreamIdOf,
    exists: async (organisation_id, slug) =>
      (await log.read(`outreach-${outreachStreamIdOf(organisation_id, slug)}`, { limit: 1 })).length > 0,
  },
})

/** Something is named that is not there, and where. */
type UnknownName = { readonly path: readonly (string | number)[]; readonly reason: string }

type Resolved = Pick<Workflow, 'trigger' | 'actions'> & { readonly unknown: readonly UnknownName[] }

/** Finds the ids of what a workflow names, and says what is not there. */
export const resolveNames = async (
  targets: NamedTargets,
  { organisation_id, workflow_id }: { readonly organisation_id: OrganisationId; readonly workflow_id: WorkflowId },
  { trigger, actions }: Pick<DeclaredWorkflow, 'trigger' | 'actions'>,
  /** True where it is set up at the same time, so that it need not be there yet. */
  isDeclared: (word: keyof NamedTargets, name: string) => boolean = () => false,
): Promise<Resolved> => {
  const unknown: UnknownName[] = []
  const idOf = async (word: keyof NamedTargets, name: string, path: UnknownName['path']): Promise<string> => {
    const target = targets[word]
    if (!isDeclared(word, name) && !(await target.exists(organisation_id, name)))
      unknown.push({ path: [...path, word], reason: `there is none called ${name}` })
    return target.idOf(organisation_id, name)
  }
  const limit = async (word: 'campaign' | 'product') => {
    const name = trigger[word]
    return name === null ? null : idOf(word, name, ['trigger'])
  }
  const targetOf = async (action: DeclaredAction, index: number) => {
    const path = ['actions', index]
    switch (action.kind) {
      case 'webhook':
        return { endpoint_connection_id: await idOf('endpoint_connection', action.endpoint_connection, path) }
      case 'integration': {
        const integration_connection_id = await idOf('integration', action.integration, path)
        return { integration_connection_id, endpoint: action.endpoint }
      }
      case 'outreach_stream':
        return { outreach_stream_id: await idOf('stream', action.stream, path) }
    }
  }

  const found = await Promise.all(
    actions.map(async (action, index) => ({ kind: action.kind, ...(await targetOf(action, index)) })),
  )
  return {
    trigger: WorkflowTrigger.parse({
      event_type: trigger.event_type,
      campaign_id: await limit('campaign'),
      product_id: await limit('product'),
    }),
    actions: found.map((action, index) => {
      const text = canonicalJson(action)
      const earlier = found.slice(0, index).filter((each) => canonicalJson(each) === text).length
      // What is done, and to what: an action keeps its id, and so its deliveries, wherever it stands among the others.
      const id = derivedId('workflow_action', organisation_id, workflow_id, text, String(earlier))
      return WorkflowAction.parse({ ...action, id })
    }),
    unknown,
  }
}
