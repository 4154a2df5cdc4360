import { PremiumId, PremiumRefundId } from '#domain/premiums/events.ts'
import { derivedId } from '#infra/ids.ts'

/** The id of each premium of a policy, by its number. */
export const premiumIds =
  (policy_id: string) =>
  (number: number): PremiumId =>
    PremiumId.parse(derivedId('premium', policy_id, String(number)))

/** The id of what was given back at the provider by somebody else, by how much that makes of the payment in all. */
export const providerRefundId = (
  premium_id: PremiumId,
  attempt: number,
  total_pence: number,
  failed_before: number,
): PremiumRefundId => {
  // The total falls with each that has failed, and may become the same again.
  const since = failed_before === 0 ? '' : ` ${failed_before}`
  return PremiumRefundId.parse(derivedId('provider_refund', premium_id, `${attempt} ${total_pence}${since}`))
}

/** The id of what was given back of a card payment by somebody else, by how many refunds of its premium there are. */
export const cardReturnIds =
  (payment_id: string) =>
  (count: number): PremiumRefundId =>
    PremiumRefundId.parse(count === 0 ? payment_id : derivedId('card_return', payment_id, String(count)))

/**
 * The id of what is given back of a premium that was paid twice, by the attempt that told of it, and by how many refunds of it
 * there are: what is lost and won again is given back again.
 */
export const paidTwiceRefundIds =
  (premium_id: PremiumId, attempt: number) =>
  (count: number): PremiumRefundId =>
    PremiumRefundId.parse(
      derivedId('paid_twice_refund', premium_id, count === 0 ? `${attempt}` : `${attempt} ${count}`),
    )
