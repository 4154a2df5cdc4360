import type { ApplicationState } from '../applications/state.ts'
import type { PaymentEvent } from './events.ts'
import * as cards from './card-payments.ts'
import { createMandate, openMandateSession, proveMandate, recordBankAnswer } from './mandates.ts'
import type { CreateMandate, OpenMandateSession, ProveMandate, RecordBankAnswer } from './mandates.ts'
import {
  replaceBankDetails,
  saveBankDetails,
  type ReplaceBankDetails,
  type SaveBankDetails,
} from './save-bank-details.ts'

/** A command about paying for an application. */
export type PaymentCommand =
  | SaveBankDetails
  | ReplaceBankDetails
  | OpenMandateSession
  | CreateMandate
  | RecordBankAnswer
  | ProveMandate
  | cards.OpenCardPayment
  | cards.TakeCardPayment
  | cards.DeclineCardPayment
  | cards.RecordCardCapture
  | cards.OweCardReturn
  | cards.ReturnUnusedCardPayment
  | cards.CloseQuotePayments
  | cards.RecordCardReturn
  | cards.RecordReturnFailure
  | cards.RecordSettlementFailure
  | cards.RequestSettlement
  | cards.CloseCardReturn

export const decidePayment = (command: PaymentCommand, state: ApplicationState): readonly PaymentEvent[] => {
  switch (command.type) {
    case 'SaveBankDetails':
      return saveBankDetails(command, state)
    case 'ReplaceBankDetails':
      return replaceBankDetails(command, state)
    case 'OpenMandateSession':
      return openMandateSession(command, state)
    case 'CreateMandate':
      return createMandate(command, state)
    case 'RecordBankAnswer':
      return recordBankAnswer(command, state)
    case 'ProveMandate':
      return proveMandate(command, state)
    case 'OpenCardPayment':
      return cards.openCardPayment(command, state)
    case 'TakeCardPayment':
      return cards.takeCardPayment(command, state)
    case 'DeclineCardPayment':
      return cards.declineCardPayment(command, state)
    case 'RecordCardCapture':
      return cards.recordCardCapture(command, state)
    case 'OweCardReturn':
      return cards.oweCardReturn(command, state)
    case 'ReturnUnusedCardPayment':
      return cards.returnUnusedCardPayment(command, state)
    case 'CloseQuotePayments':
      return cards.closeQuotePayments(command, state)
    case 'RecordCardReturn':
      return cards.recordCardReturn(command, state)
    case 'RecordReturnFailure':
      return cards.recordReturnFailure(command, state)
    case 'RecordSettlementFailure':
      return cards.recordSettlementFailure(command, state)
    case 'RequestSettlement':
      return cards.requestSettlement(command, state)
    case 'CloseCardReturn':
      return cards.closeCardReturn(command, state)
  }
}
