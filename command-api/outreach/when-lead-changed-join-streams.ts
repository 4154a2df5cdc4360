import { publishedLeadEvent } from '#domain/lead-feed/record.ts'
import { idOf } from '#domain/event.ts'
import { leadEvents, type LeadEvent } from '#domain/leads/events.ts'
import { streamsOf } from '#domain/outreach/record.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import type { Workflow } from '#domain/workflows/record.ts'
import type { Reaction } from '../reactions/reaction.ts'
import type { OutreachPeople } from './people.ts'
import type { LiveOutreach } from './streams.ts'
import { eachOnce, streamsThatWorkflowsName, type Joining } from './workflow-streams.ts'

type Deps = {
  readonly people: Pick<OutreachPeople, 'stream' | 'joinSeveral'>
  readonly live: LiveOutreach
  readonly workflows: ReadonlyMap<string, Workflow>
}

/** A lead joins outreach streams as campaigns and workflows say: by arriving, or by what happens to it. */
export const whenLeadChangedJoinStreams = ({ people, live, workflows }: Deps): Reaction<typeof leadEvents> => {
  const byCampaign = (organisation_id: OrganisationId, { type, campaign }: LeadEvent): readonly Joining[] => {
    if ((type !== 'LeadCreated' && type !== 'LeadSentAgain') || !campaign) return []
    return streamsOf(live.streams, organisation_id)
      .filter(({ campaigns }) => campaigns.includes(campaign.key))
      .map((stream) => ({ stream, by: { type: 'campaign', id: campaign.id } }))
  }

  const byWorkflow = (organisation_id: OrganisationId, event: LeadEvent): readonly Joining[] => {
    const published = publishedLeadEvent(event)
    if (!published) return []
    const asking = [...workflows.values()].filter(
      (workflow) => workflow.organisation_id === organisation_id && isTriggered(workflow, event, published.type),
    )
    return streamsThatWorkflowsName(live, asking)
  }

  return {
    name: 'when-lead-changed-join-streams',
    categories: ['lead'],
    events: leadEvents,
    target: (_event, { stream }) => people.stream(idOf(stream)),
    react: async (event, { stream }, context) => {
      const organisation_id = OrganisationId.parse(context.organisation_id)
      if (!live.settings.get(organisation_id)?.is_on) return
      const joining = [...byCampaign(organisation_id, event), ...byWorkflow(organisation_id, event)]
      await people.joinSeveral(organisation_id, CustomerId.parse(idOf(stream)), eachOnce(joining), context)
    },
  }
}

const isTriggered = ({ id, trigger, state }: Workflow, event: LeadEvent, type: string): boolean => {
  // Who runs a workflow by hand says which.
  const isAsked = 'workflow_id' in event ? event.workflow_id === id : type === trigger.event_type
  const isOnCampaign = trigger.campaign_id === null || trigger.campaign_id === event.campaign?.id
  return state === 'active' && isAsked && isOnCampaign
}
