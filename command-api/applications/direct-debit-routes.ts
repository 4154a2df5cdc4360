import { z } from 'zod'
import { dashedSortCode, type BankAccountCheck } from '#domain/bank-account.ts'
import { QuoteId } from '#domain/values.ts'
import { route, type Route } from '#infra/http/route.ts'
import { derivedId } from '#infra/ids.ts'
import { isTestAccount } from '#infra/stripe/test-accounts.ts'
import { accessToQuote as access, type Applications } from './applications.ts'
import { digest } from './digest.ts'
import { DirectDebitInput, readBankDetails } from '../direct-debit-input.ts'

const DirectDebitDetails = z
  .object({
    id: z.uuid(),
    account_holder_name: z.string(),
    sort_code: z.string().describe('With dashes.'),
    account_number_last4: z.string(),
  })
  .meta({ id: 'DirectDebitDetails' })

type Deps = { readonly applications: Applications; readonly checkBankAccount: BankAccountCheck }

export const directDebitRoutes = ({ applications, checkBankAccount }: Deps): Route[] => {
  const { findByQuote, handle, contextOf } = applications

  return [
    route(
      {
        method: 'post',
        address: '/api/v1/quotes/:id/direct_debit_details',
        tag: 'Checkout',
        summary: 'Save the bank details that premiums are collected from; sent again, they replace the former',
        access,
        path: z.object({ id: QuoteId }),
        body: z.object({ direct_debit: DirectDebitInput }),
        answers: { 201: z.object({ data: DirectDebitDetails }) },
        errors: ['quote_not_bindable', 'quote_expired', 'direct_debit_invalid'],
      },
      async ({ path: { id: quote_id }, body, caller, ...facts }) => {
        const { record } = await findByQuote(quote_id, caller)
        const bank_details = readBankDetails(
          body.direct_debit,
          (account) => checkBankAccount(account) || (record.stripe_test_mode && isTestAccount(account)),
        )
        await handle(
          record.id,
          { type: 'SaveBankDetails', quote_id, bank_details, now: facts.now, digest },
          contextOf(caller, facts),
        )
        const { account_holder_name, sort_code, account_number } = bank_details
        return {
          status: 201,
          body: {
            data: {
              id: derivedId('bank_details', caller.organisation_id, record.id),
              account_holder_name,
              sort_code: dashedSortCode(sort_code),
              account_number_last4: account_number.slice(-4),
            },
          },
        }
      },
    ),
  ]
}
