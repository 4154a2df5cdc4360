import { application } from '#domain/applications/application.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { ProviderEvent } from '#infra/stripe/provider-events.ts'
import { commandHandler, type Context } from '../writing/handle.ts'
import { idsIn, nothing, type CardSubject, type Receipt } from './subjects.ts'
import type { EventParts } from './parts.ts'
import { doneOr, known, saidBy } from '../payments/provider-answers.ts'

type DisputeEvent = Extract<ProviderEvent, { type: `charge.dispute.${string}` }>

/** News that a bank has taken a payment back for its customer, or that the firm has won it back. */
export const makeOnDispute = ({ writer, merchants, cardOf, onPremium, followCard }: EventParts) => {
  const { handle } = commandHandler(writer, application)

  const onDispute = async (
    organisation_id: OrganisationId,
    { type, livemode, data }: DisputeEvent,
    context: Context,
  ): Promise<Receipt> => {
    const { id, amount, payment_intent } = data.object
    const isWon = type === 'charge.dispute.funds_reinstated'
    const about = { ...nothing, kind: isWon ? 'payment_reinstated' : 'payment_disputed', amount_pence: amount } as const
    const merchant = merchants(organisation_id, !livemode)
    if (!payment_intent || !merchant) return about
    // A dispute does not say what the payment was for.
    const { metadata } = doneOr('unavailable', known(await merchant.provider.readPayment(payment_intent)))
    const receipt = { ...about, ...idsIn(metadata), payment_intent_id: payment_intent }
    if (receipt.premium_id !== null) return onPremium(organisation_id, receipt, metadata, context)
    const subject = await cardOf(organisation_id, payment_intent, metadata)
    // News may come late and in any order: the provider is asked how things stand now. A key may not be allowed to ask.
    const isTakenBack = async () => saidBy(known(await merchant.provider.isTakenBack(id))) ?? !isWon
    return subject ? onCard(receipt, subject, id, isTakenBack, context) : receipt
  }

  /** The first premium by card is owed to its policy again; before there is a policy, it pays for none. */
  const onCard = async (
    receipt: Receipt,
    { state: before, card }: CardSubject,
    dispute_id: string,
    isTakenBack: () => Promise<boolean>,
    context: Context,
  ): Promise<Receipt> => {
    const { id: application_id } = before.record
    const { payment_id, amount_pence } = card
    const answer = { ...receipt, application_id }
    if (card.policy_id === null) await followCard(before, card, context)
    // Of what is taken back in part the rest is still to be used, or to be given back.
    if (card.policy_id === null && (receipt.amount_pence ?? 0) < amount_pence) return answer
    if (card.policy_id === null && !(await isTakenBack())) {
      // It was taken to have gone back to the cardholder, and pays for nothing: now it has to.
      const failed = { provider_refund_id: dispute_id, failure_code: 'dispute_won' }
      await handle(application_id, { type: 'RecordReturnFailure', payment_id, ...failed }, context)
      await handle(application_id, { type: 'RequestSettlement', payment_id }, context)
      return answer
    }
    const returned = { payment_id, amount_pence, how: 'refunded' } as const
    const after =
      card.policy_id === null
        ? (await handle(application_id, { type: 'RecordCardReturn', ...returned }, context)).state
        : before
    // It may have been sold a moment before: then the dispute is about its policy.
    const now = after?.payments.cards.find((each) => each.payment_id === payment_id)
    const policy = after && now && (await followCard(after, now, context))
    const premium = policy?.premiums.find(({ number }) => number === 1)
    return policy && premium ? { ...answer, policy_id: policy.id, premium_id: premium.premium_id } : answer
  }

  return onDispute
}
