import { application } from '#domain/applications/application.ts'
import type { Mandate } from '#domain/payments/record.ts'
import { hasMandate } from '#domain/policies/mandate.ts'
import { policy } from '#domain/policies/policy.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import type { ApplicationId } from '#domain/values.ts'
import type { Outcome } from '#infra/stripe/provider.ts'
import { commandHandler, type Context, type Writer } from '../writing/handle.ts'
import { providerOf, type Merchants } from './merchants.ts'

/**
 * Asks the provider what has become of the mandate of a policy, since its news of that may be lost; gives the policy as it is
 * then. What it says is recorded with the mandate first, from where receivers are told. One that has ended is asked about as
 * well: a bank may reinstate it.
 */
export type CheckMandate = (before: PolicyState, context: Context) => Promise<Outcome<PolicyState>>

type Deps = { readonly writer: Writer; readonly merchants: Merchants }

export const makeCheckMandate = ({ writer, merchants }: Deps): CheckMandate => {
  const applications = commandHandler(writer, application)
  const tellPolicy = makeTellPolicy(writer)

  return async (before, context) => {
    const unchanged = { outcome: 'done', value: before } as const
    const provider_mandate_id = before.provider_mandate?.provider_mandate_id ?? null
    const provider = providerOf(merchants, before)
    if (provider_mandate_id === null || !provider || !hasMandate(before)) return unchanged
    const read = await provider.readMandate(provider_mandate_id)
    if (read.outcome !== 'done') return read
    const answered = { provider_mandate_id, answer: read.value, is_current: true } as const
    const { application_id } = before
    const { state } = await applications.handle(application_id, { type: 'RecordBankAnswer', ...answered }, context)
    const mandate = state?.payments.mandate
    if (mandate?.provider_mandate_id !== provider_mandate_id) return unchanged
    const after = await tellPolicy(before.id, application_id, mandate, context)
    return { outcome: 'done', value: after ?? before }
  }
}

/**
 * Takes what became of a mandate from its application to its policy. A mandate can end and come back: whoever comes late with
 * what was known before looks again.
 */
export const makeTellPolicy = (writer: Writer) => {
  const applications = commandHandler(writer, application)
  const policies = commandHandler(writer, policy)

  const tellPolicy = async (
    policy_id: string,
    application_id: ApplicationId,
    { mandate_id, status }: Mandate,
    context: Context,
  ): Promise<PolicyState | undefined> => {
    const { state } = await policies.handle(policy_id, { type: 'ChangeMandate', mandate_id, status }, context)
    const mandate = (await applications.load(application_id))?.payments.mandate
    return mandate?.mandate_id === mandate_id && mandate.status !== status
      ? tellPolicy(policy_id, application_id, mandate, context)
      : state
  }
  return tellPolicy
}
