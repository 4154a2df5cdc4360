import { OrganisationId } from '#domain/values.ts'
import { lifecycle, type LifecycleEventType } from '#domain/workflows/events.ts'
import type { Workflow } from '#domain/workflows/record.ts'
import type { LifecyclePerson } from './lifecycle-people.ts'
import type { Reaction } from '../reactions/reaction.ts'
import type { OutreachPeople } from './people.ts'
import type { LiveOutreach } from './streams.ts'
import { eachOnce, streamsThatWorkflowsName } from './workflow-streams.ts'

const { application, quote, mandate, policy, complaint } = lifecycle
const followed = {
  ...application.events,
  ...quote.events,
  ...mandate.events,
  ...policy.events,
  ...complaint.events,
}

/** The published name of each: those that webhooks are sent with. */
export const lifecycleTriggers: Readonly<Record<keyof typeof followed, LifecycleEventType>> = {
  ...application.names,
  ...quote.names,
  ...mandate.names,
  ...policy.names,
  ...complaint.names,
}

type Deps = {
  readonly people: Pick<OutreachPeople, 'joinSeveral'>
  readonly live: LiveOutreach
  readonly workflows: ReadonlyMap<string, Workflow>
  readonly personOf: LifecyclePerson
}

/**
 * The person of an application, a policy or a complaint joins outreach streams as workflows say, where that person is a lead. A person is
 * in a stream once, so that a repeated event changes nothing.
 */
export const whenLifecycleHappenedJoinStreams = ({
  people,
  live,
  workflows,
  personOf,
}: Deps): Reaction<typeof followed> => ({
  name: 'when-lifecycle-happened-join-streams',
  categories: ['application', 'policy', 'complaint'],
  events: followed,
  react: async (event, recorded, context) => {
    const organisation_id = OrganisationId.parse(context.organisation_id)
    if (!live.settings.get(organisation_id)?.is_on) return
    const asking = [...workflows.values()].filter(
      ({ organisation_id: its, trigger, state, created_at }) =>
        its === organisation_id &&
        state === 'active' &&
        trigger.event_type === lifecycleTriggers[event.type] &&
        // What happened before a workflow was set up is none of its business, also when events are followed again.
        created_at <= context.now,
    )
    if (asking.length === 0) return
    const person = await personOf(recorded)
    if (!person) return
    const ofProduct = asking.filter(
      ({ trigger: { product_id } }) => product_id === null || product_id === person.product_id,
    )
    const joining = eachOnce(streamsThatWorkflowsName(live, ofProduct))
    await people.joinSeveral(organisation_id, person.contact_id, joining, context)
  },
})
