import { application } from '#domain/applications/application.ts'
import { MandateId } from '#domain/payments/events.ts'
import { needsMandate } from '#domain/policies/mandate.ts'
import { policy } from '#domain/policies/policy.ts'
import type { ApplicationId, OrganisationId } from '#domain/values.ts'
import { Problem } from '#infra/http/problem.ts'
import type { ProviderEvent } from '#infra/stripe/provider-events.ts'
import { realNow } from '#infra/clock.ts'
import { commandHandler, type Context, type Writer } from '../writing/handle.ts'
import type { SetUp } from '../policies/set-up.ts'
import { makeTellPolicy } from '../payments/check-mandate.ts'
import type { Merchants } from '../payments/merchants.ts'
import { nothing, type Receipt } from './subjects.ts'
import { known, saidBy } from '../payments/provider-answers.ts'

/** The application that a mandate belongs to, by the provider's name for it. */
export type MandateOwner = (
  organisation_id: OrganisationId,
  provider_mandate_id: string,
) => Promise<{ readonly id: string; readonly application_id: ApplicationId } | undefined>

type Parts = {
  readonly writer: Writer
  readonly merchants: Merchants
  readonly mandateOwner: MandateOwner
  readonly setUp: SetUp
}

/** News of what the banks have answered to a Direct Debit mandate. */
export const makeOnMandate = ({ writer, merchants, mandateOwner, setUp }: Parts) => {
  const { handle } = commandHandler(writer, application)
  const policies = commandHandler(writer, policy)
  const tellPolicy = makeTellPolicy(writer)

  const onMandate = async (
    organisation_id: OrganisationId,
    { created, livemode, data }: Extract<ProviderEvent, { type: 'mandate.updated' }>,
    context: Context,
  ): Promise<Receipt> => {
    const { id, status, payment_method_details } = data.object
    const owner = await mandateOwner(organisation_id, id)
    const receipt = { ...nothing, kind: 'mandate_updated' as const }
    if (!owner && isRecent(created)) throw tooEarly()
    if (!owner) return receipt
    // News may come late and in any order: the provider is asked how it stands now. A key may not be allowed to ask.
    const merchant = merchants(organisation_id, !livemode)
    const now = merchant && saidBy(known(await merchant.provider.readMandate(id)))
    const network_status = payment_method_details.bacs_debit?.network_status ?? 'pending'
    const answer = now ?? { network_status, active: status !== 'inactive' }
    const told = { provider_mandate_id: id, answer, is_current: now !== undefined } as const
    const { state } = await handle(owner.application_id, { type: 'RecordBankAnswer', ...told }, context)
    const about = { application_id: owner.application_id, mandate_id: MandateId.parse(owner.id) }
    const mandate = state?.payments.mandate
    if (!state?.sale || mandate?.mandate_id !== about.mandate_id) return { ...receipt, ...about }
    // The sale may be so new that its policy is not set up yet.
    const { policy_id } = state.sale
    if (!(await policies.load(policy_id))) await setUp(owner.application_id, state.sale.quote_id, context)
    const changed = await tellPolicy(policy_id, owner.application_id, mandate, context)
    if (changed && needsMandate(changed)) throw tooEarly()
    return { ...receipt, ...about, policy_id }
  }

  return onMandate
}

/** A mandate that nobody here knows may be another system's; one of the last minutes may be one that we are just making. */
const isRecent = (created: number | undefined): boolean =>
  created !== undefined && realNow() < created * 1000 + tenMinutesMs
const tenMinutesMs = 600_000

/** The banks have answered before what they answer to is on record. */
const tooEarly = () => new Problem('unavailable', 'This mandate is still being recorded. Send the news again later.')
