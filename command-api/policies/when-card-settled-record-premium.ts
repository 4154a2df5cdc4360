import { idOf, type EventOf } from '#domain/event.ts'
import { paymentEvents } from '#domain/payments/events.ts'
import { policy } from '#domain/policies/policy.ts'
import { ApplicationId } from '#domain/values.ts'
import { commandHandler, type Context, type Writer } from '../handle.ts'
import type { Reaction } from '../reaction.ts'
import { cardReturnIds } from './ids.ts'

const { CardPaymentCaptured, CardPaymentReturned, CardPaymentReturnFailed, CardPaymentReturnClosed } = paymentEvents
const events = { CardPaymentCaptured, CardPaymentReturned, CardPaymentReturnFailed, CardPaymentReturnClosed }

type SetUpSold = (application_id: ApplicationId, policy_id: string, context: Context) => Promise<void>

/** The first premium by card is collected once the card is charged, and refunded while that is given back. */
export const whenCardSettledRecordPremium = (writer: Writer, setUpSold: SetUpSold): Reaction<typeof events> => {
  const { handle, load } = commandHandler(writer, policy)

  return {
    name: 'when-card-settled-record-premium',
    categories: ['application'],
    events,
    target: ({ policy_id }, { stream }) => (policy_id === null ? stream : `${policy.category}-${policy_id}`),
    react: async (event, { stream }, context) => {
      if (event.policy_id === null) return
      // The sale may be so new that its policy is not set up yet.
      if (!(await load(event.policy_id))) await setUpSold(ApplicationId.parse(idOf(stream)), event.policy_id, context)
      if (event.type === 'CardPaymentCaptured') {
        await handle(event.policy_id, { type: 'RecordCardCharged', collected_at: context.now }, context)
        return
      }
      if (event.type === 'CardPaymentReturnFailed') {
        const { provider_refund_id, failure_code } = event
        const failure = { type: 'RecordCardReturnFailure', provider_refund_id, failure_code } as const
        await handle(event.policy_id, failure, context)
        return
      }
      if (event.type === 'CardPaymentReturnClosed') {
        await handle(event.policy_id, { type: 'RecordCardReturnClosed', closing: closingOf(event) }, context)
        return
      }
      const returned_pence = event.how === 'refunded' ? event.amount_pence : 0
      await handle(
        event.policy_id,
        { type: 'RecordCardReturned', refundId: cardReturnIds(event.payment_id), returned_pence },
        context,
      )
    },
  }
}

const closingOf = ({ how, paid_on, reason }: EventOf<typeof events> & { readonly type: 'CardPaymentReturnClosed' }) => {
  if (how === 'taken_back' || reason === null) return { how: 'taken_back' } as const
  return how === 'paid_otherwise' && paid_on !== null
    ? ({ how, paid_on, reason } as const)
    : ({ how: 'not_owed', reason } as const)
}
