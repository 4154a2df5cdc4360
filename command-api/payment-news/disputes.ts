import type { OrganisationId } from '#domain/values.ts'
import type { ProviderEvent } from '#infra/stripe/provider-events.ts'
import type { Context } from '../writing/handle.ts'
import { idsIn, nothing, type Receipt } from './subjects.ts'
import type { EventParts } from './parts.ts'
import { doneOr, known } from '../payments/provider-answers.ts'

type DisputeEvent = Extract<ProviderEvent, { type: `charge.dispute.${string}` }>

/** News that a bank has taken a payment back for its customer, or that the firm has won it back. */
export const makeOnDispute =
  ({ merchants, cardOf, onPremium, followCard }: EventParts) =>
  async (
    organisation_id: OrganisationId,
    { type, livemode, data }: DisputeEvent,
    context: Context,
  ): Promise<Receipt> => {
    const { amount, payment_intent, status } = data.object
    const isWon = type === 'charge.dispute.funds_reinstated' || (type === 'charge.dispute.closed' && status === 'won')
    const about = { ...nothing, kind: isWon ? 'payment_reinstated' : 'payment_disputed', amount_pence: amount } as const
    const merchant = merchants(organisation_id, !livemode)
    if (!payment_intent || !merchant) return about
    // A dispute does not say what the payment was for.
    const { metadata } = doneOr('unavailable', known(await merchant.provider.readPayment(payment_intent)))
    const receipt = { ...about, ...idsIn(metadata), payment_intent_id: payment_intent }
    if (receipt.premium_id !== null) return onPremium(organisation_id, receipt, metadata, context)
    const subject = await cardOf(organisation_id, payment_intent, metadata)
    if (!subject) return receipt
    const { state, card } = subject
    const answer = { ...receipt, application_id: state.record.id }
    const policy = await followCard(state, card, context)
    const premium = policy?.premiums.find(({ number }) => number === 1)
    return policy && premium ? { ...answer, policy_id: policy.id, premium_id: premium.premium_id } : answer
  }
