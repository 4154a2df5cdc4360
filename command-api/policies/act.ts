import { z } from 'zod'
import { policy, type PolicyCommand } from '#domain/policies/policy.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import { OrganisationId, PolicyId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import type { RequestFacts } from '#infra/http/route.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { teamContext } from '../operator.ts'

/** The address of a policy for the operator's acts. */
export const policyAddress = '/admin/v1/organisations/:organisation_id/policies/:id'
export const policyPath = z.object({ organisation_id: OrganisationId, id: PolicyId })

/** Does what the operator asks of a policy. Throws `not_found` when the organisation has no such policy. */
export const makeAct = (writer: Writer) => {
  const { handle, load } = commandHandler(writer, policy)

  return async (
    { organisation_id, id }: z.output<typeof policyPath>,
    command: PolicyCommand | ((state: PolicyState) => Promise<PolicyCommand>),
    facts: RequestFacts,
  ): Promise<PolicyState> => {
    const before = await load(id)
    if (before?.organisation_id !== organisation_id) throw notFound('policy')
    const asked = typeof command === 'function' ? await command(before) : command
    const { state } = await handle(id, asked, teamContext(organisation_id, facts))
    if (!state) throw notFound('policy')
    return state
  }
}
