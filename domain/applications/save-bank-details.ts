import { isSameJson } from '../canonical-json.ts'
import type { BankDetails, PaymentEvent } from '../payments/events.ts'
import type { QuoteId } from '../values.ts'
import { requireBindable, type BindableAt } from './bindable.ts'
import type { ApplicationState } from './state.ts'

export type SaveBankDetails = BindableAt & {
  readonly type: 'SaveBankDetails'
  readonly quote_id: QuoteId
  /** Checked already. */
  readonly bank_details: BankDetails
}

/** What is sent again replaces what there was. */
export const saveBankDetails = (command: SaveBankDetails, state: ApplicationState): readonly PaymentEvent[] => {
  const { quote_id, bank_details } = command
  requireBindable(state, quote_id, command)
  const saved = state.payments.bank_details
  if (saved?.quote_id === quote_id && isSameJson(saved.bank_details, bank_details)) return []
  return [
    {
      type: 'BankDetailsSaved',
      quote_id,
      customer_id: state.record.customer?.id ?? null,
      bank_details,
      account_number_last4: bank_details.account_number.slice(-4),
    },
  ]
}
