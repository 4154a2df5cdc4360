import { z } from 'zod'
import type { BankAccountCheck } from '#domain/bank-account.ts'
import type { BankDetails } from '#domain/payments/events.ts'
import { plainWords } from '#domain/reasons.ts'
import { withoutUnseen } from '#domain/invisible-characters.ts'
import { Problem } from '#infra/http/problem.ts'

const noControls = (value: string) => !/\p{Cc}/u.test(value) && value.isWellFormed()

const Line = z
  .string()
  .trim()
  .max(200)
  .refine(noControls, 'must not hold control characters')
  .nullish()
  .transform((line) => (line === undefined || line === '' ? null : line))

const Details = z.object({
  account_holder_name: z
    .string()
    .overwrite(withoutUnseen)
    .min(1)
    .max(100)
    .refine(noControls, 'must not hold control characters')
    .refine((name) => /[\p{L}\d]/u.test(name), 'must be a name')
    .describe('In full; the banks are sent the first 18 characters.'),
  sort_code: z
    .string()
    .transform((sent) => sent.replaceAll(/[\s-]/g, ''))
    .refine((digits) => /^\d{6}$/.test(digits), 'must be six digits, with or without dashes')
    .describe('Six digits, with or without dashes.'),
  account_number: z
    .string()
    .transform((sent) => sent.replaceAll(/\s/g, ''))
    .refine((digits) => /^\d{8}$/.test(digits), 'must be eight digits')
    .describe('Eight digits.'),
  address_line1: Line,
  address_line2: Line,
  address_city: Line,
  address_postal_code: Line,
}) satisfies z.ZodType<BankDetails>

const { $schema: _, ...documented } = z.toJSONSchema(Details, { io: 'input' })

/** Any object: what is wrong within it is answered as `direct_debit_invalid`. */
export const DirectDebitInput = z.looseObject({}).meta({ override: documented })

/** Bank details, tidied. Throws `direct_debit_invalid` with each input that cannot be used. */
export const readBankDetails = (sent: Readonly<Record<string, unknown>>, check: BankAccountCheck): BankDetails => {
  const { success, data, error } = Details.safeParse(sent, { error: plainWords })
  if (!success) throw invalid(error.issues.map(({ path, message }) => [String(path[0]), message] as const))
  if (check(data)) return data
  const reason = 'the sort code and the account number do not belong together'
  throw invalid([
    ['sort_code', reason],
    ['account_number', reason],
  ])
}

const invalid = (reasons: readonly (readonly [field: string, reason: string])[]): Problem => {
  const fields: Record<string, string> = {}
  for (const [field, reason] of reasons) fields[`direct_debit.${field}`] ??= reason
  const message = `Correct ${Object.keys(fields).join(', ')} and send the request again.`
  return new Problem('direct_debit_invalid', message, { fields })
}
