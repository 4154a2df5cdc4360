import type { Decider } from '../decider.ts'
import { acceptQuote, type AcceptQuote } from './accept.ts'
import { chooseInterstitial, type ChooseInterstitial } from './choose-interstitial.ts'
import { confirmSteps, type ConfirmSteps } from './confirm-steps.ts'
import { expireQuote, type ExpireQuote } from './expire-quote.ts'
import { quoteApplication, type QuoteApplication } from './quote.ts'
import { applicationStreamEvents, type ApplicationStreamEvent } from './record.ts'
import { unknownApplication } from './refusals.ts'
import { saveBankDetails, type SaveBankDetails } from './save-bank-details.ts'
import { saveCustomer, type SaveCustomer } from './save-customer.ts'
import { savePartner, type SavePartner } from './save-partner.ts'
import { saveSoftCustomer, type SaveSoftCustomer } from './save-soft-customer.ts'
import { saveApplication, type SaveApplication } from './save.ts'
import { startApplication, type StartApplication } from './start.ts'
import { evolve, type ApplicationState } from './state.ts'
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
  | ExpireQuote
  | SaveBankDetails
  | ConfirmSteps

type Decision = readonly ApplicationStreamEvent[]

const decide = (command: ApplicationCommand, state: ApplicationState | undefined): Decision => {
  if (command.type === 'StartApplication') return startApplication(command, state)
  if (command.type === 'SupersedeApplication') return supersedeApplication(command, state)
  if (!state) throw unknownApplication()

  switch (command.type) {
    case 'SaveApplication':
      return saveApplication(command, state)
    case 'SaveCustomer':
      return saveCustomer(command, state)
    case 'SavePartner':
      return savePartner(command, state)
    case 'SaveSoftCustomer':
      return saveSoftCustomer(command, state)
    case 'ChooseInterstitial':
      return chooseInterstitial(command, state)
    case 'QuoteApplication':
      return quoteApplication(command, state)
    case 'AcceptQuote':
      return acceptQuote(command, state)
    case 'ExpireQuote':
      return expireQuote(command, state)
    case 'SaveBankDetails':
      return saveBankDetails(command, state)
    case 'ConfirmSteps':
      return confirmSteps(command, state)
  }
}

export const application: Decider<ApplicationCommand, typeof applicationStreamEvents, ApplicationState | undefined> = {
  category: 'application',
  events: applicationStreamEvents,
  initialState: undefined,
  decide,
  evolve,
}
