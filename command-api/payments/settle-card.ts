import { application } from '#domain/applications/application.ts'
import type { ApplicationCommand } from '#domain/applications/application.ts'
import type { ApplicationState } from '#domain/applications/state.ts'
import type { PaymentId } from '#domain/payments/events.ts'
import { heldPence, payment, type Payment } from '#domain/payments/payment.ts'
import type { CardPayment } from '#domain/payments/record.ts'
import { commandHandler, type Context, type Writer } from '../writing/handle.ts'
import { tooManyAtOnce } from '../writing/writer.ts'

const attempts = 20

type Settle = { readonly type: 'RecordCardReturn' | 'RecordReturnFailure' | 'RequestSettlement' }

/**
 * The acts that follow for a card that nothing was sold for, or that its application returns all the same, from what stands of its
 * payment at the provider.
 */
export const settlingOf = (found: Payment, card: CardPayment): readonly (ApplicationCommand & Settle)[] => {
  const { payment_id, amount_pence } = card
  const isSold = card.policy_id !== null
  if (card.closed_as !== null || (isSold && card.status !== 'returning')) return []
  if (found.status === 'cancelled') {
    // Nothing was charged, whatever the provider calls a refund.
    const how = card.paid_at === null ? 'closed' : 'released'
    return card.status === 'returned' ? [] : [{ type: 'RecordCardReturn', payment_id, how, amount_pence: 0 }]
  }
  if (found.status !== 'captured') return []
  if (heldPence(found) > 0) return isSold ? [] : returnFailureIn(found, card)
  return card.status === 'returned' ? [] : [{ type: 'RecordCardReturn', payment_id, how: 'refunded', amount_pence }]
}

/** It had gone back to the cardholder, or was to, and some of it is here again. */
const returnFailureIn = (
  { refunds, disputes }: Payment,
  { payment_id, failed_refunds, status, is_left, failure_code }: CardPayment,
): readonly (ApplicationCommand & Settle)[] => {
  const isNews = (id: string) => !failed_refunds.includes(id)
  const refund = refunds.findLast((each) => each.has_failed && isNews(each.provider_refund_id))
  const won = disputes.findLast((each) => each.status === 'won' && isNews(each.provider_dispute_id))
  // What is still to go back is tried again, by whomever it was tried before.
  if (refund && status === 'returned') {
    const failed = {
      provider_refund_id: refund.provider_refund_id,
      failure_code: refund.failure_code ?? 'refund_failed',
    }
    return [{ type: 'RecordReturnFailure', payment_id, ...failed }]
  }
  // No card has refused it: it is tried without the team.
  const again = { type: 'RequestSettlement', payment_id } as const
  if (!won) return is_left && failure_code === disputeWon ? [again] : []
  const { provider_dispute_id: provider_refund_id } = won
  return [{ type: 'RecordReturnFailure', payment_id, provider_refund_id, failure_code: disputeWon }, again]
}

const disputeWon = 'dispute_won'

/** The card as it is then: a policy may have been sold for it meanwhile. */
type Settled = { readonly state: ApplicationState; readonly card: CardPayment; readonly payment: Payment }

/**
 * Keeps a card as its payment stands, as far as that is its application's. It looks again when the payment has changed meanwhile, so
 * that nothing stays decided by what was true before.
 */
export const makeSettleCard = (writer: Writer) => {
  const applications = commandHandler(writer, application)
  const payments = commandHandler(writer, payment)

  const cardOf = async (found: Payment): Promise<Settled | undefined> => {
    const state = await applications.load(found.application_id)
    const card = state?.payments.cards.find(({ payment_id }) => payment_id === found.payment_id)
    return state && card && { state, card, payment: found }
  }

  return async (payment_id: PaymentId, context: Context): Promise<Settled | undefined> => {
    for (let time = 0; time < attempts; time++) {
      const found = await payments.load(payment_id)
      const before = found && (await cardOf(found))
      if (!before) return undefined
      const { id } = before.state.record
      for (const command of settlingOf(found, before.card)) await applications.handle(id, command, context)
      if ((await payments.load(payment_id))?.changes === found.changes) return cardOf(found)
    }
    throw tooManyAtOnce()
  }
}
