import type { applicationEvents } from '#domain/applications/events.ts'
import type { checkoutEvents } from '#domain/checkout/events.ts'
import type { marketQuoteEvents } from '#domain/market-quotes/events.ts'
import type { paymentEvents, paymentStreamEvents } from '#domain/payments/events.ts'
import type { quoteEvents } from '#domain/quotes/events.ts'
import { day, words, type Sentences } from './sentence.ts'

export const applicationSentences: Sentences<typeof applicationEvents> = {
  ApplicationStarted: () => 'An application was started.',
  AnswersSaved: () => 'Answers were saved.',
  CoverSaved: () => 'The cover and the term that are asked for were saved.',
  CustomerSaved: () => 'The customer’s details were saved.',
  PartnerSaved: () => 'The second person’s details were saved.',
  PartnerAnswersSaved: () => 'The second person’s answers were saved.',
  SoftCustomerSaved: () => 'Details of a visitor who is no customer yet were saved.',
  InterstitialChosen: ({ stage_key, choice_key }) => `On the page ${stage_key}, ${choice_key} was chosen.`,
  ProvenanceSaved: () => 'Where the visitor came from was saved.',
  AcceptanceOutdated: () => 'The team’s acceptance no longer fits the answers.',
  ApplicationDeclined: ({ cause }) => `The application was declined, by ${by[cause]}.`,
  ApplicationPostponed: ({ cause, until }) =>
    `The application was postponed${until === null ? '' : ` until ${until}`}, by ${by[cause]}.`,
  ApplicationReferred: ({ cause }) => `The application was referred to the team, by ${by[cause]}.`,
  ApplicationAccepted: () => 'The team accepted what was referred.',
  ApplicationGivenBack: () => 'The team gave the application back for other answers.',
  ApplicationReopened: ({ from }) => `The application was opened again: it had been ${from}.`,
  ApplicationBound: ({ policy_number }) => `The policy ${policy_number} was set up.`,
  ApplicationAbandoned: ({ reason }) => `The application was abandoned: ${words(reason)}.`,
}

const by = { answer: 'an answer that was given', underwriting: 'an underwriting rule', team: 'the team' } as const

export const quoteSentences: Sentences<typeof quoteEvents> = {
  QuoteIssued: ({ premium_pence, decision }, money) =>
    `A quote of ${money(premium_pence)} a month was issued (${decision}).`,
  QuoteReplaced: () => 'The quote was replaced by a new one.',
  QuoteAccepted: ({ via }) =>
    via === 'bind' ? 'The quote was accepted by setting the policy up.' : 'The quote was accepted.',
  QuoteAcceptanceVoided: () => 'The acceptance of the quote is void: something that it rested on was changed.',
  QuoteRejected: () => 'The quote was rejected.',
  QuoteExpired: () => 'The quote expired.',
  QuoteBought: ({ policy_number, start_date }) => `The quote was bought: policy ${policy_number}, from ${start_date}.`,
}

export const checkoutSentences: Sentences<typeof checkoutEvents> = {
  StepsConfirmed: ({ steps }) => `What is shown before buying was confirmed: ${steps.length} of the required steps.`,
}

export const marketSentences: Sentences<typeof marketQuoteEvents> = {
  MarketSearchRequested: () => 'A search of the market was asked for.',
  MarketSearchAccepted: ({ provider_count }) => `The panel began to search ${provider_count} providers.`,
  MarketResultsReceived: () => 'Results came from the panel.',
  MarketSearchCompleted: () => 'The search of the market was completed.',
  MarketSearchFailed: ({ failure_code }) => `The search of the market failed: ${words(failure_code)}.`,
  MarketQuotesOutdated: ({ stale }) =>
    stale ? 'The results of the market no longer fit the answers.' : 'The results of the market fit the answers again.',
  MarketResultSelected: () => 'A result of the market was selected.',
  ApplicationHandedOff: () => 'The application was handed over to the provider that was selected.',
}

export const paymentSentences: Sentences<typeof paymentEvents> = {
  BankDetailsSaved: () => 'Bank details for the Direct Debit were saved.',
  MandateSessionOpened: () => 'A session for a Direct Debit mandate was opened with the provider.',
  MandateCreated: () => 'A Direct Debit mandate was created.',
  MandateActivated: () => 'The banks accepted the Direct Debit mandate.',
  MandateFailed: () => 'The banks refused the Direct Debit mandate.',
  MandateCancelled: ({ end }) => `The Direct Debit mandate was ended: ${words(end)}.`,
  CardPaymentOpened: ({ amount_pence }, money) => `A card payment of ${money(amount_pence)} was opened.`,
  CardPaymentDeclined: () => 'The card payment was declined.',
  CardPaymentTaken: ({ status }) => `The card payment ${status === 'authorised' ? 'was authorised' : 'succeeded'}.`,
  CardPaymentCaptured: () => 'The authorised card payment was charged.',
  CardPaymentUsed: () => 'The card payment was used for a policy.',
  CardPaymentReturnOwed: ({ reason }) => `The card payment is to be given back: ${words(reason)}.`,
  CardPaymentReturned: ({ amount_pence }, money) => `${money(amount_pence)} of the card payment were given back.`,
  CardPaymentSettlementFailed: ({ failure_code, attempt }) =>
    `Attempt ${attempt} to settle the card payment failed: ${failure_code}.`,
  CardPaymentReturnFailed: ({ failure_code }) => `Giving the card payment back failed: ${failure_code}.`,
  CardPaymentReturnClosed: ({ how }) => `Nothing more of the card payment is given back: ${words(how)}.`,
  CardPaymentSettlementRequested: ({ work }) =>
    work === 'capture'
      ? 'The team asked to charge the card payment again.'
      : 'The team asked to give the card payment back again.',
}

export const paymentStreamSentences: Sentences<typeof paymentStreamEvents> = {
  PaymentOpened: ({ amount_pence, method }, money) =>
    `A payment of ${money(amount_pence)} was asked for (${words(method)}).`,
  PaymentTakenOn: () => 'The provider took the payment on.',
  PaymentAssigned: ({ attempt }) => `The payment belongs to attempt ${attempt} of its premium.`,
  PaymentAuthorised: () => 'The payment was authorised.',
  PaymentCaptured: ({ captured_pence }, money) => `${money(captured_pence)} were paid.`,
  PaymentFailed: ({ failure_code }) => `The payment failed: ${failure_code}.`,
  PaymentCancelled: () => 'The payment was cancelled.',
  PaymentDelayed: ({ retry_at }) => `The provider could not be asked; it is tried again on ${day(retry_at)}.`,
  PaymentRefundAsked: () => 'A refund of the payment was asked for.',
  PaymentRefundMade: () => 'A refund of the payment was made.',
  PaymentRefundFailed: ({ failure_code }) => `A refund of the payment failed: ${failure_code}.`,
  PaymentDisputeOpened: () => 'The payer’s bank took the payment back: it is disputed.',
  PaymentDisputeWon: () => 'The dispute was won.',
  PaymentDisputeLost: () => 'The dispute was lost.',
}
