import type { BankAccount } from '#domain/bank-account.ts'

/**
 * The bank accounts that Stripe publishes for trying Bacs Direct Debit with a test account. None of them passes the modulus
 * check, so they have to be named.
 */
export const testSortCode = '108800'

export const testAccounts = {
  succeeds: '00012345',
  succeedsLater: '90012345',
  debitNotAuthorised: '33333335',
  debitNotAuthorisedLater: '93333335',
  insufficientFunds: '22222227',
  insufficientFundsLater: '92222227',
  disputed: '55555559',
  mandateRefused: '00033333',
  setupFails: '00044444',
  aboveWeeklyLimit: '34343434',
  aboveLimit: '12121212',
} as const

const known: ReadonlySet<string> = new Set(Object.values(testAccounts))

export const isTestAccount = ({ sort_code, account_number }: BankAccount): boolean =>
  sort_code === testSortCode && known.has(account_number)
