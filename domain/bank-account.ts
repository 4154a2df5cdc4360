/**
 * The modulus check of the UK banks: a sort code and an account number belong together. The weights are data, published by
 * Vocalink and changed from time to time; letters name digits as there: the sort code is `uvwxyz`, the account number
 * `abcdefgh`.
 */

export type ModulusAlgorithm = 'MOD10' | 'MOD11' | 'DBLAL'

/** One line of the published weights. */
export type ModulusRow = {
  readonly from: string
  readonly to: string
  readonly algorithm: ModulusAlgorithm
  /** Fourteen, one for each digit. */
  readonly weights: readonly number[]
  /** The number of the rule by which this line departs from the algorithm. */
  readonly exception: number | undefined
}

export type ModulusTable = {
  readonly rows: readonly ModulusRow[]
  /** The sort codes that exception 5 checks in place of others. */
  readonly substitutions: ReadonlyMap<string, string>
}

export type BankAccount = {
  /** Six digits. */
  readonly sort_code: string
  /** Eight digits. */
  readonly account_number: string
}

/** Tells whether an account can exist. */
export type BankAccountCheck = (account: BankAccount) => boolean

/** A sort code that no line covers cannot be checked, and passes. */
export const passesModulusCheck = ({ rows, substitutions }: ModulusTable, account: BankAccount): boolean => {
  const [first, second] = rows.filter(({ from, to }) => from <= account.sort_code && account.sort_code <= to)
  if (!first) return true
  const digits = digitsOf(account)
  if (isForeignCurrency(first, digits)) return true

  const passes = (row: ModulusRow) => passesRow(row, account, substitutions)
  if (!second) return passes(first)
  if (eitherIsEnough(first, second)) return passes(first) || passes(second)
  return passes(first) && (mayBeSkipped(second, digits) || passes(second))
}

const digitsOf = ({ sort_code, account_number }: BankAccount): readonly number[] =>
  Array.from(sort_code + account_number, Number)

/** The digits of the account number by their letters. */
const at = (digits: readonly number[], letter: 'a' | 'b' | 'c' | 'g' | 'h'): number =>
  digits[6 + 'abcdefgh'.indexOf(letter)] ?? 0

const isForeignCurrency = ({ exception }: ModulusRow, digits: readonly number[]): boolean => {
  const a = at(digits, 'a')
  return exception === 6 && a >= 4 && a <= 8 && at(digits, 'g') === at(digits, 'h')
}

const pairs: readonly (readonly [number, number])[] = [
  [2, 9],
  [10, 11],
  [12, 13],
]

const eitherIsEnough = (first: ModulusRow, second: ModulusRow): boolean =>
  pairs.some(([one, other]) => first.exception === one && second.exception === other)

const mayBeSkipped = ({ exception }: ModulusRow, digits: readonly number[]): boolean =>
  exception === 3 && [6, 9].includes(at(digits, 'c'))

const passesRow = (row: ModulusRow, account: BankAccount, substitutions: ModulusTable['substitutions']): boolean => {
  const digits = digitsOf({ ...account, sort_code: checkedSortCode(row, account.sort_code, substitutions) })
  const total = weigh(row.algorithm, weightsOf(row, digits), digits) + (row.exception === 1 ? 27 : 0)
  const modulus = row.algorithm === 'MOD11' ? 11 : 10
  const remainder = total % modulus
  if (row.exception === 4) return remainder === 10 * at(digits, 'g') + at(digits, 'h')
  if (row.exception === 5) return passesException5(row.algorithm, remainder, digits)
  return remainder === 0 || (row.exception === 14 && passesException14(row, digits))
}

const checkedSortCode = (
  { exception }: ModulusRow,
  sort_code: string,
  substitutions: ModulusTable['substitutions'],
): string => {
  if (exception === 5) return substitutions.get(sort_code) ?? sort_code
  if (exception === 8) return '090126'
  if (exception === 9) return '309634'
  return sort_code
}

const weightsOf = ({ weights, exception }: ModulusRow, digits: readonly number[]): readonly number[] => {
  const [a, b, g] = [at(digits, 'a'), at(digits, 'b'), at(digits, 'g')]
  if (exception === 2 && a !== 0)
    return g === 9 ? [0, 0, 0, 0, 0, 0, 0, 0, 8, 7, 10, 9, 3, 1] : [0, 0, 1, 2, 5, 3, 6, 4, 8, 7, 10, 9, 3, 1]
  const withoutSortCode = exception === 7 || (exception === 10 && b === 9 && (a === 0 || a === 9))
  return withoutSortCode && g === 9 ? weights.map((weight, index) => (index < 8 ? 0 : weight)) : weights
}

const weigh = (algorithm: ModulusAlgorithm, weights: readonly number[], digits: readonly number[]): number => {
  const products = digits.map((digit, index) => digit * (weights[index] ?? 0))
  const parts = algorithm === 'DBLAL' ? products.map((product) => Math.floor(product / 10) + (product % 10)) : products
  return parts.reduce((sum, part) => sum + part, 0)
}

/** The remainder gives the check digit: g for the first check, h for the second. */
const passesException5 = (algorithm: ModulusAlgorithm, remainder: number, digits: readonly number[]): boolean => {
  if (algorithm === 'DBLAL') return at(digits, 'h') === (remainder === 0 ? 0 : 10 - remainder)
  return remainder !== 1 && at(digits, 'g') === (remainder === 0 ? 0 : 11 - remainder)
}

/** Accounts that were numbered with seven digits have a 0, 1 or 9 behind them. */
const passesException14 = ({ weights }: ModulusRow, digits: readonly number[]): boolean => {
  if (![0, 1, 9].includes(at(digits, 'h'))) return false
  const shifted = [...digits.slice(0, 6), 0, ...digits.slice(6, 13)]
  return weigh('MOD11', weights, shifted) % 11 === 0
}

/** A sort code as written: `12-34-56`. */
export const dashedSortCode = (sort_code: string): string => sort_code.replace(/^(\d\d)(\d\d)(\d\d)$/, '$1-$2-$3')
