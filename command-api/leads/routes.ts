import { z } from 'zod'
import { inAct } from '#domain/leads/lead.ts'
import { LeadRecord } from '#domain/leads/record.ts'
import type { Pipelines } from '#domain/pipeline/record.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { Problem } from '#infra/http/problem.ts'
import { route, type Route } from '#infra/http/route.ts'
import type { CommandSide } from '../command-side.ts'
import type { Context } from '../writing/handle.ts'
import type { LeadActs, Leads } from './live-leads.ts'
import { By, namedBy, teamContext, teamRoute } from '../operator.ts'
import { commandOf, LeadAct } from './inputs.ts'

type ExternalId = {
  readonly organisation_id: OrganisationId
  readonly kind: 'external_id'
  readonly value: string
}

/** The holder of an id, and since when. */
type Claim = { readonly customer_id: CustomerId; readonly claimed_at: string }

type Deps = {
  readonly leads: Leads
  readonly isErased: CommandSide['isErased']
  readonly pipelines: Pipelines
  /**
   * Assigns the identity to a person, unless it is another's already, from whom it was not taken away. Returns the person
   * who has it.
   */
  readonly claim: (
    identity: ExternalId,
    id: CustomerId,
    context: Context,
    isTakenAway: (from: Claim) => Promise<boolean>,
  ) => Promise<CustomerId>
  /** Undefined: nobody of this organisation has this id. */
  readonly personOf: (organisation_id: OrganisationId, id: CustomerId) => Promise<object | undefined>
}

/** Ours is everybody's own: taken as the id of another system, it would name two people. */
const refuseOurIds = async (
  { personOf }: Pick<Deps, 'personOf'>,
  { acts }: Pick<LeadActs, 'acts'>,
  organisation_id: OrganisationId,
): Promise<void> => {
  for (const [index, act] of acts.entries()) {
    const id = act.type === 'Mark' ? CustomerId.safeParse(act.marks.external_system_id).data : undefined
    if (!id || !(await personOf(organisation_id, id))) continue
    const field = `acts[${index}].external_system_id`
    const reason = 'is our contact_id of a person, and not the id in another system'
    throw new Problem('validation_failed', `Correct ${field}: it ${reason}.`, { fields: { [field]: reason } })
  }
}

/**
 * Claims the id in the organisation's own CRM by which a lead is found from now on: when it is sent in, when an outcome is
 * reported. An id that another lead no longer has is passed on; until then it still finds that lead.
 */
const claimExternalIds = async (
  { claim, leads }: Pick<Deps, 'claim' | 'leads'>,
  { contact_id, acts }: Pick<LeadActs, 'contact_id' | 'acts'>,
  context: Context,
): Promise<void> => {
  const organisation_id = OrganisationId.parse(context.organisation_id)
  for (const [index, act] of acts.entries()) {
    const value = act.type === 'Mark' ? act.marks.external_system_id : undefined
    if (!value) continue
    // One that was claimed since its lead changed is just about to be that lead's.
    const isTakenAway = async ({ customer_id, claimed_at }: Claim) => {
      const lead = await leads.find(organisation_id, customer_id)
      if (!lead || lead.record.marks.external_system_id === value) return false
      return (lead.external_id_changed_at ?? '') > claimed_at
    }
    const identity = { organisation_id, kind: 'external_id', value } as const
    if ((await claim(identity, contact_id, context, isTakenAway)) === contact_id) continue
    throw new Problem('conflict', 'Another person has this external_system_id already. Check whose it is.', {
      fields: { [`acts[${index}].external_system_id`]: 'is that of another person' },
    })
  }
}

export const leadAdminRoutes = ({ leads, isErased, pipelines, claim, personOf }: Deps): Route[] => [
  route(
    {
      ...teamRoute('leads'),
      method: 'post',
      address: '/admin/v1/organisations/:organisation_id/leads/:contact_id/acts',
      summary: 'Work a lead: one or several acts, all of them or none. What is already so changes nothing',
      path: z.object({ organisation_id: OrganisationId, contact_id: CustomerId }),
      body: z.object({
        acts: z.array(LeadAct).min(1).max(50),
        by: By,
      }),
      answers: { 200: z.object({ data: LeadRecord }) },
      errors: ['invalid_transition', 'conflict'],
    },
    async ({ path: { organisation_id, contact_id }, body: { acts, by }, ...facts }) => {
      const name = namedBy(facts, by)
      const known = await leads.find(organisation_id, contact_id)
      const lead = { type: 'lead', id: contact_id } as const
      if (!known || (await isErased(organisation_id, lead, known.record.updated_at))) throw notFound('lead')
      const pipeline = pipelines(organisation_id)
      const context = teamContext(organisation_id, facts)
      const work: LeadActs = {
        contact_id,
        acts: acts.map((act, index) => inAct(index, () => commandOf(act, pipeline, facts.now))),
        by: { type: 'user', name },
      }
      // What is refused must claim no id.
      await leads.check(work, context)
      await refuseOurIds({ personOf }, work, organisation_id)
      await claimExternalIds({ claim, leads }, work, context)
      const { state } = await leads.handle(work, context)
      if (!state?.record) throw notFound('lead')
      return { status: 200, body: { data: state.record } }
    },
  ),
]
