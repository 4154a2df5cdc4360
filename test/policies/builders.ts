import type { ApplicationStreamEvent } from '#domain/applications/record.ts'
import type { QuoteId } from '#domain/values.ts'
import { born } from '../quotes/builders.ts'

export const anna = { ...born, address_line1: '1 High Street', city: 'London', postal_code: 'SW1A 1AA' }

export const bankDetailsSaved = (quote_id: QuoteId): ApplicationStreamEvent => ({
  type: 'BankDetailsSaved',
  quote_id,
  customer_id: null,
  bank_details: {
    account_holder_name: 'Anna Ash',
    sort_code: '089999',
    account_number: '66374958',
    address_line1: null,
    address_line2: null,
    address_city: null,
    address_postal_code: null,
  },
  account_number_last4: '4958',
})
