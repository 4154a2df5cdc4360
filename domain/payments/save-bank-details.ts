import { isSameJson } from '../canonical-json.ts'
import { Rejection } from '../rejection.ts'
import type { QuoteId } from '../values.ts'
import { requireBindable, type BindableAt } from '../applications/bindable.ts'
import type { ApplicationState } from '../applications/state.ts'
import type { BankDetails, PaymentEvent } from './events.ts'
import { usableMandate } from './record.ts'

export type SaveBankDetails = BindableAt & {
  readonly type: 'SaveBankDetails'
  readonly quote_id: QuoteId
  /** Checked already. */
  readonly bank_details: BankDetails
}

/** The operator's act after the sale, once the mandate that was made has ended. */
export type ReplaceBankDetails = Pick<SaveBankDetails, 'bank_details'> & { readonly type: 'ReplaceBankDetails' }

/** Bank details sent again replace the earlier ones. */
export const saveBankDetails = (command: SaveBankDetails, state: ApplicationState): readonly PaymentEvent[] => {
  requireBindable(state, command.quote_id, command)
  return saved(command, state)
}

export const replaceBankDetails = (
  { bank_details }: ReplaceBankDetails,
  state: ApplicationState,
): readonly PaymentEvent[] => {
  if (!state.sale) throw new Rejection('conflict', 'Nothing was sold on this application.')
  const decided = saved({ bank_details, quote_id: state.sale.quote_id }, state)
  // It was made from the former ones a moment ago, and would be the policy's: the policy has not heard of it yet.
  if (decided.length > 0 && usableMandate(state.payments))
    throw new Rejection(
      'conflict',
      'A mandate was made from the former bank details. Other ones are taken once it has failed or was cancelled.',
    )
  return decided
}

const saved = (
  { quote_id, bank_details }: Pick<SaveBankDetails, 'quote_id' | 'bank_details'>,
  { payments, record }: ApplicationState,
): readonly PaymentEvent[] => {
  const former = payments.bank_details
  if (former?.quote_id === quote_id && isSameJson(former.bank_details, bank_details)) return []
  return [
    {
      type: 'BankDetailsSaved',
      quote_id,
      customer_id: record.customer?.id ?? null,
      bank_details,
      account_number_last4: bank_details.account_number.slice(-4),
    },
  ]
}
