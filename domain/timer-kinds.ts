/** The timers of a card payment: for its policy, to be charged for it, to be given back. */
export const cardPaymentTimers = ['card_payment_unused', 'card_payment_capture', 'card_payment_return'] as const

export const policyTimers = [
  'policy_start',
  'policy_end',
  'policy_mandate',
  'policy_premium',
  'policy_arrears',
  'policy_review',
  'policy_indexation',
] as const

export const leadTimers = [
  'lead_first_contact',
  'lead_dormancy',
  'lead_next_action',
  'lead_snooze',
  'lead_tps',
] as const

/** The kinds of what becomes due: rows of the read model `due_times`, each fired by the timer of its kind. */
export const timerKinds = [
  'application_inactivity',
  'quote_expiry',
  'market_search',
  ...cardPaymentTimers,
  'payment',
  ...policyTimers,
  'premium',
  'premium_refund',
  'complaint_overdue',
  ...leadTimers,
  'ingest_retry',
  'membership_cycle',
  'outreach_next',
  'outreach_draft',
  'outreach_issue',
  'proposal_expiry',
] as const
export type TimerKind = (typeof timerKinds)[number]
