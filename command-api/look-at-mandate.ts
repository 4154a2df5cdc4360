import { application } from '#domain/applications/application.ts'
import { hasMandate, hasMandateEnded } from '#domain/policies/mandate.ts'
import { policy } from '#domain/policies/policy.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import type { Outcome } from '#infra/stripe/provider.ts'
import { commandHandler, type Context, type Writer } from './handle.ts'
import type { Merchants } from './merchants.ts'

/**
 * Asks the provider what has become of the mandate of a policy, since its news of that may be lost; gives the policy as it is
 * then. What it says is recorded with the mandate first, from where receivers are told.
 */
export type LookAtMandate = (before: PolicyState, context: Context) => Promise<Outcome<PolicyState>>

type Deps = { readonly writer: Writer; readonly merchants: Merchants }

export const makeLookAtMandate = ({ writer, merchants }: Deps): LookAtMandate => {
  const applications = commandHandler(writer, application)
  const policies = commandHandler(writer, policy)

  return async (before, context) => {
    const unchanged = { outcome: 'done', value: before } as const
    const provider_mandate_id = before.provider_mandate?.provider_mandate_id ?? null
    const provider = merchants(before.organisation_id, before.test)?.provider
    if (provider_mandate_id === null || !provider || !hasMandate(before) || hasMandateEnded(before)) return unchanged
    const read = await provider.readMandate(provider_mandate_id)
    if (read.outcome !== 'done') return read
    const answered = { type: 'RecordBankAnswer', provider_mandate_id, answer: read.value } as const
    const { state } = await applications.handle(before.application_id, answered, context)
    const mandate = state?.payments.mandate
    if (mandate?.provider_mandate_id !== provider_mandate_id) return unchanged
    const { mandate_id, status } = mandate
    const { state: after } = await policies.handle(before.id, { type: 'ChangeMandate', mandate_id, status }, context)
    return { outcome: 'done', value: after ?? before }
  }
}
