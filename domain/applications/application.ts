import type { Decider } from '../decider.ts'
import { acceptQuote, type AcceptQuote } from './accept.ts'
import { chooseInterstitial, type ChooseInterstitial } from './choose-interstitial.ts'
import { bindQuote, type BindQuote } from './bind.ts'
import { confirmSteps, type ConfirmSteps } from './confirm-steps.ts'
import { expireQuote, type ExpireQuote } from './quote-expiry.ts'
import {
  noteMarketSearch,
  searchMarket,
  selectMarketResult,
  type NoteMarketSearch,
  type SearchMarket,
  type SelectMarketResult,
} from './market.ts'
import { quoteApplication, type QuoteApplication } from './quote.ts'
import { applicationStreamEvents, type ApplicationStreamEvent } from './record.ts'
import { rejectQuote, type RejectQuote } from './reject.ts'
import { decidePayment, type PaymentCommand } from '../payments/of-application.ts'
import { notFound } from '../rejection.ts'
import { saveCustomer, type SaveCustomer } from './save-customer.ts'
import { savePartner, type SavePartner } from './save-partner.ts'
import { saveSoftCustomer, type SaveSoftCustomer } from './save-soft-customer.ts'
import { saveApplication, type SaveApplication } from './save.ts'
import { startApplication, type StartApplication } from './start.ts'
import { evolve, type ApplicationState } from './state.ts'
import { abandonInactive, comingBack, decideAsTeam, type AbandonInactive, type TeamAct } from './team.ts'
import { supersedeApplication, type SupersedeApplication } from './supersede.ts'

export type ApplicationCommand =
  | StartApplication
  | SaveApplication
  | SaveCustomer
  | SavePartner
  | SaveSoftCustomer
  | ChooseInterstitial
  | SupersedeApplication
  | QuoteApplication
  | AcceptQuote
  | RejectQuote
  | ExpireQuote
  | TeamAct
  | SearchMarket
  | NoteMarketSearch
  | SelectMarketResult
  | AbandonInactive
  | PaymentCommand
  | ConfirmSteps
  | BindQuote

type Decision = readonly ApplicationStreamEvent[]

const decide = (command: ApplicationCommand, state: ApplicationState | undefined): Decision => {
  if (command.type === 'StartApplication') return startApplication(command, state)
  if (command.type === 'SupersedeApplication') return supersedeApplication(command, state)
  if (!state) throw notFound('application')

  switch (command.type) {
    case 'SaveApplication':
      return afterComingBack(state, (open) => saveApplication(command, open))
    case 'SaveCustomer':
      return afterComingBack(state, (open) => saveCustomer(command, open))
    case 'SavePartner':
      return afterComingBack(state, (open) => savePartner(command, open))
    case 'SaveSoftCustomer':
      return saveSoftCustomer(command, state)
    case 'ChooseInterstitial':
      return chooseInterstitial(command, state)
    case 'QuoteApplication':
      return quoteApplication(command, state)
    case 'AcceptQuote':
      return acceptQuote(command, state)
    case 'RejectQuote':
      return rejectQuote(command, state)
    case 'ExpireQuote':
      return expireQuote(command, state)
    case 'AcceptReferred':
    case 'DeclineReferred':
    case 'PostponeReferred':
    case 'GiveBackReferred':
    case 'ReopenPostponed':
    case 'WithdrawApplication':
      return decideAsTeam(command, state)
    case 'SearchMarket':
      return searchMarket(command, state)
    case 'NoteMarketSearch':
      return noteMarketSearch(command, state)
    case 'SelectMarketResult':
      return selectMarketResult(command, state)
    case 'AbandonInactive':
      return abandonInactive(command, state)
    case 'ConfirmSteps':
      return confirmSteps(command, state)
    case 'SaveBankDetails':
    case 'ReplaceBankDetails':
    case 'OpenMandateSession':
    case 'CreateMandate':
    case 'RecordBankAnswer':
    case 'ProveMandate':
    case 'OpenCardPayment':
    case 'TakeCardPayment':
    case 'DeclineCardPayment':
    case 'RecordCardCapture':
    case 'OweCardReturn':
    case 'ReturnUnusedCardPayment':
    case 'CloseQuotePayments':
    case 'RecordCardReturn':
    case 'RecordReturnFailure':
    case 'RecordSettlementFailure':
    case 'RequestSettlement':
    case 'CloseCardReturn':
      return decidePayment(command, state)
    case 'BindQuote':
      return bindQuote(command, state)
  }
}

/** Saving something after coming back opens the application, as it was before it was given up. */
const afterComingBack = (state: ApplicationState, save: (open: ApplicationState) => Decision): Decision => {
  const back = comingBack(state)
  const recorded = { occurred_at: state.record.updated_at }
  return [...back, ...save(back.reduce((before, event) => evolve(before, event, recorded) ?? before, state))]
}

export const application: Decider<ApplicationCommand, typeof applicationStreamEvents, ApplicationState | undefined> = {
  category: 'application',
  events: applicationStreamEvents,
  initialState: undefined,
  decide,
  evolve,
}
