import type { PremiumEvent } from '#domain/premiums/events.ts'

const dayAfter = (at: string): string => new Date(Date.parse(at) + 24 * 60 * 60 * 1000).toISOString()

type PremiumTime = {
  readonly kind: 'policy_premium' | 'premium' | 'premium_refund'
  readonly id: string
  readonly due_at: string | null
}

/** The due times that an event gives a policy's premiums, each under its own id. */
export const premiumDueTimes = (
  event: PremiumEvent,
  policy_id: string,
  occurred_at: string,
): readonly PremiumTime[] => {
  const premium = (due_at: string | null): PremiumTime => ({ kind: 'premium', id: event.premium_id, due_at })
  switch (event.type) {
    case 'PremiumDue':
      return [
        { kind: 'policy_premium', id: policy_id, due_at: event.next_due_at },
        // A card is charged by itself: it is looked at, should the news of that be lost.
        premium(event.method === 'card' ? dayAfter(occurred_at) : occurred_at),
      ]
    case 'PremiumRequested':
      return [premium(event.check_at)]
    case 'PremiumDelayed':
    case 'PremiumFailed':
      return [premium(event.retry_at)]
    case 'PremiumRetried':
      return [premium(occurred_at)]
    case 'PremiumCollected':
    case 'PremiumWrittenOff':
      return [premium(null)]
    case 'PremiumRefundOwed':
      return [{ kind: 'premium_refund', id: event.refund_id, due_at: occurred_at }]
    case 'PremiumRefunded':
    case 'PremiumRefundFailed':
    case 'PremiumRefundPaidOtherwise':
    case 'PremiumRefundWaived':
      return [{ kind: 'premium_refund', id: event.refund_id, due_at: null }]
    case 'PremiumRefundDelayed':
      return [{ kind: 'premium_refund', id: event.refund_id, due_at: event.retry_at }]
    case 'PremiumRefundReduced':
    case 'PremiumReinstated':
    case 'PremiumTakenBack':
    case 'PremiumPaymentsChanged':
      return []
    case 'PremiumRefundRequested':
      return [{ kind: 'premium_refund', id: event.refund_id, due_at: occurred_at }]
  }
}
