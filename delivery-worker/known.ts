import { organisationEvents } from '#domain/access/events.ts'
import { categoryOf, fromStored, idOf, type RecordedEvent } from '#domain/event.ts'
import { endpointConnectionEvents } from '#domain/integrations/events.ts'
import { lifecycleActionEvents, type LifecycleEventType } from '#domain/workflows/events.ts'
import { applicationLifecycle } from './lifecycle/applications.ts'
import type { Facts, Lifecycle } from './lifecycle/lifecycle.ts'
import { quoteLifecycle } from './lifecycle/quotes.ts'

type Organisation = { readonly active: boolean }

type Connection = { readonly base_url: string; readonly sealed_secret: string; readonly removed: boolean }

type Action = {
  readonly product_id: string | null
  readonly event_types: readonly LifecycleEventType[]
  readonly endpoint_connection_id: string
  readonly active: boolean
  readonly removed: boolean
}

/** What the planner has learnt from the log so far and needs to know further on. */
export type Known = { readonly id: string; readonly organisation_id: string } & (
  | { readonly kind: 'organisation'; readonly fact: Organisation }
  | { readonly kind: 'connection'; readonly fact: Connection }
  | { readonly kind: 'action'; readonly fact: Action }
  | { readonly kind: 'subject'; readonly fact: Facts }
)
export type KnownAction = Extract<Known, { kind: 'action' }>

const lifecycles = [applicationLifecycle, quoteLifecycle]
const lifecycleByType = new Map(lifecycles.flatMap((each) => each.types.map((type) => [type, each] as const)))

/** How an event is told to receivers, where it is. */
export const lifecycleOf = ({ type }: RecordedEvent): Lifecycle | undefined => lifecycleByType.get(type)

/** The events that planning reads; the order in which they come decides what is sent. */
export const plannedFrom = {
  categories: ['organisation', 'endpoint_connection', 'lifecycle_action', 'application'],
  types: [
    ...Object.keys(organisationEvents),
    ...Object.keys(endpointConnectionEvents),
    ...Object.keys(lifecycleActionEvents),
    ...lifecycleByType.keys(),
  ],
}

export const organisationOf = (recorded: RecordedEvent): string => {
  if (categoryOf(recorded.stream) === 'organisation') return idOf(recorded.stream)
  const { organisation_id } = recorded.metadata
  if (organisation_id === null) throw new Error(`${recorded.type} ${recorded.id} belongs to no organisation.`)
  return organisation_id
}

/** What must be known before a batch can be planned: these things, and all that these organisations have set up. */
export const concernsOf = (batch: readonly RecordedEvent[]) => ({
  ids: [...new Set(batch.map((each) => lifecycleOf(each)?.idOf(each) ?? idOf(each.stream)))],
  organisations: [...new Set(batch.map(organisationOf))],
})

export const makeKnowledge = (before: readonly Known[]) => {
  const known = new Map(before.map((each) => [keyOf(each), each]))
  const learnt = new Map<string, Known>()

  const find = <Kind extends Known['kind']>(kind: Kind, id: string) =>
    known.get(keyOf({ kind, id })) as Extract<Known, { kind: Kind }> | undefined // the kind is part of the key

  return {
    find,
    actions: (): readonly KnownAction[] => [...known.values()].filter((each) => each.kind === 'action'),
    /** Takes in what an event teaches of the thing that it happened to. */
    learn: (recorded: RecordedEvent): Known => {
      const lesson = lessonOf(recorded, find)
      known.set(keyOf(lesson), lesson)
      learnt.set(keyOf(lesson), lesson)
      return lesson
    },
    learnt: (): readonly Known[] => [...learnt.values()],
  }
}
export type Knowledge = ReturnType<typeof makeKnowledge>

const keyOf = ({ kind, id }: Pick<Known, 'kind' | 'id'>): string => `${kind} ${id}`

const lessonOf = (recorded: RecordedEvent, find: Knowledge['find']): Known => {
  const organisation_id = organisationOf(recorded)
  const lifecycle = lifecycleOf(recorded)
  if (lifecycle) {
    const id = lifecycle.idOf(recorded)
    const fact = lifecycle.remember(find('subject', id)?.fact, recorded)
    return { kind: 'subject', id, organisation_id, fact }
  }

  const id = idOf(recorded.stream)
  switch (categoryOf(recorded.stream)) {
    case 'organisation': {
      const fact = learnOrganisation(find('organisation', id)?.fact, recorded)
      return { kind: 'organisation', id, organisation_id, fact }
    }
    case 'endpoint_connection': {
      const fact = learnConnection(find('connection', id)?.fact, recorded)
      return { kind: 'connection', id, organisation_id, fact }
    }
    case 'lifecycle_action': {
      const fact = learnAction(find('action', id)?.fact, recorded)
      return { kind: 'action', id, organisation_id, fact }
    }
    default:
      throw new Error(`Planning does not know ${recorded.type} in ${recorded.stream}.`)
  }
}

const learnOrganisation = (organisation: Organisation | undefined, recorded: RecordedEvent): Organisation => {
  switch (fromStored(organisationEvents, recorded).type) {
    case 'OrganisationRegistered':
    case 'OrganisationActivated':
      return { active: true }
    case 'OrganisationDeactivated':
      return { active: false }
    case 'OrganisationChanged':
      return organisation ?? { active: true }
  }
}

const learnConnection = (connection: Connection | undefined, recorded: RecordedEvent): Connection => {
  const event = fromStored(endpointConnectionEvents, recorded)
  if (event.type === 'EndpointConnectionCreated')
    return { base_url: event.base_url, sealed_secret: event.sealed_secret, removed: false }
  if (!connection) throw neverCreated(recorded)
  switch (event.type) {
    case 'EndpointConnectionMoved':
      return { ...connection, base_url: event.base_url }
    case 'EndpointSecretRegenerated':
      return { ...connection, sealed_secret: event.sealed_secret }
    case 'EndpointConnectionRemoved':
      return { ...connection, removed: true }
  }
}

const learnAction = (action: Action | undefined, recorded: RecordedEvent): Action => {
  const event = fromStored(lifecycleActionEvents, recorded)
  if (event.type === 'LifecycleActionRemoved') {
    if (!action) throw neverCreated(recorded)
    return { ...action, removed: true }
  }
  const { product_id, event_types, endpoint_connection_id, active } = event
  return { product_id, event_types, endpoint_connection_id, active, removed: false }
}

const neverCreated = ({ type, stream }: RecordedEvent) => new Error(`${type} in ${stream}, which was never created.`)
