import type { LeadCommand, OneLeadCommand } from '#domain/leads/commands.ts'
import type { CampaignRef, LeadActor, LeadEvent } from '#domain/leads/events.ts'
import { lead } from '#domain/leads/lead.ts'
import type { LeadState, LeadStreamState } from '#domain/leads/state.ts'
import { OrganisationId, type CustomerId } from '#domain/values.ts'
import { commandHandler, type Context, type Handled, type Writer } from '../writing/handle.ts'
import type { Pipelines } from '../pipeline/live-pipelines.ts'

export type { OneLeadCommand } from '#domain/leads/commands.ts'
export type { Sending } from '#domain/leads/state.ts'

export type LeadActs = {
  readonly contact_id: CustomerId
  /** Done in this order, in one append: all of them, or none when one is refused. */
  readonly acts: readonly OneLeadCommand[]
  readonly by: LeadActor
  /** The campaign of the ingest that causes them; left out: the lead's first. */
  readonly campaign?: CampaignRef | null
}

/** Leads, for every capability that brings them about or tells them what happened. */
export type Leads = {
  readonly stream: (contact_id: CustomerId) => string
  readonly handle: (acts: LeadActs, context: Context) => Promise<Handled<LeadStreamState, LeadEvent>>
  /** Throws what these acts would be refused with, and does none of them. */
  readonly check: (acts: LeadActs, context: Context) => Promise<void>
  /** Undefined: the person is no lead. */
  readonly find: (organisation_id: OrganisationId, contact_id: CustomerId) => Promise<LeadState | undefined>
}

/** True where somebody screens telephone numbers for an organisation. */
export type ScreensTps = (organisation_id: OrganisationId) => boolean

export const makeLeads = (writer: Writer, pipelines: Pipelines, screensTps: ScreensTps = () => false): Leads => {
  const { handle, load, preview, streamOf } = commandHandler(writer, lead)

  const commandOf = ({ contact_id: _contact_id, ...acts }: LeadActs, context: Context): LeadCommand => {
    const organisation_id = OrganisationId.parse(context.organisation_id)
    const known = { pipeline: pipelines(organisation_id), screens_tps: screensTps(organisation_id) }
    return { type: 'Lead', ...acts, now: context.now, ...known }
  }

  return {
    stream: streamOf,
    handle: async (acts, context) => handle(acts.contact_id, commandOf(acts, context), context),
    check: async (acts, context) => {
      await preview(acts.contact_id, commandOf(acts, context))
    },
    find: async (organisation_id, contact_id) => {
      const state = await load(contact_id)
      return state?.record && state.record.organisation_id === organisation_id ? state : undefined
    },
  }
}

/** Somebody who was erased is no lead any more: what is said of them could not be stored. */
export const leadsNotErased = ({
  leads,
  people,
}: {
  readonly leads: Leads
  readonly people: { readonly isErased: (contact_id: CustomerId) => Promise<boolean> }
}): Leads => ({
  ...leads,
  find: async (organisation_id, contact_id) => {
    const found = await leads.find(organisation_id, contact_id)
    return found && !(await people.isErased(contact_id)) ? found : undefined
  },
})
