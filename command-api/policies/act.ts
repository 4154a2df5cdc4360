import { z } from 'zod'
import { policy, type PolicyCommand } from '#domain/policies/policy.ts'
import { PolicyPreview, previewOf } from '#domain/policies/preview.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import { OrganisationId, PolicyId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import type { BankCalendar } from '#domain/working-days.ts'
import type { RequestFacts } from '#infra/http/route.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { teamContext, type teamRoute } from '../operator.ts'

/** The address of a policy for the operator's acts. */
export const policyAddress = '/admin/v1/organisations/:organisation_id/policies/:id'
export const policyPath = z.object({ organisation_id: OrganisationId, id: PolicyId })

type Asked = PolicyCommand | ((state: PolicyState) => Promise<PolicyCommand>)

/** Does what the operator asks of a policy. Throws `not_found` when the organisation has no such policy. */
export const makeAct = (writer: Writer) => {
  const { handle, load } = commandHandler(writer, policy)

  return async (
    { organisation_id, id }: z.output<typeof policyPath>,
    command: Asked,
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

/** The answer of a preview: the address is that of the act with `/preview` behind it, and what is sent is the same. */
export const previewAnswer = { 200: z.object({ data: PolicyPreview }) }

/** The access of an act's preview: that of the act, also with a key that may change nothing. */
export const previewing = <Team extends ReturnType<typeof teamRoute>>(team: Team) =>
  ({ ...team, access: { ...team.access, changesNothing: true } }) as const

/** Shows the effect of what the operator would ask of a policy, and does nothing. Throws `not_found` as the act does. */
export const makePreview = ({ writer, calendar }: { readonly writer: Writer; readonly calendar: BankCalendar }) => {
  const { load } = commandHandler(writer, policy)

  return async ({ organisation_id, id }: z.output<typeof policyPath>, command: Asked, { now }: RequestFacts) => {
    const before = await load(id)
    if (before?.organisation_id !== organisation_id) throw notFound('policy')
    const asked = typeof command === 'function' ? await command(before) : command
    return { status: 200 as const, body: { data: previewOf(asked, before, { now, calendar }) } }
  }
}
