import type { MappedOutcome } from '#domain/custom-integrations/events.ts'
import { exactMoney } from '#domain/money.ts'
import { plainWords, reasonsOf } from '#domain/reasons.ts'
import { Rejection, type Fields } from '#domain/rejection.ts'
import { inputPath } from '#infra/http/problem.ts'
import { unusableTextsOf } from '#infra/http/unusable-texts.ts'
import { noAmount, OutcomeInput, readReference, readReport, type Reading } from './inputs.ts'
import type { ReadReceived } from './outcome-streams.ts'

/** Holds what an event of another system says against the same checks as a report over the API. */
export const readReceived = (sent: MappedOutcome, reading: Reading): ReadReceived => {
  const { match_on_details, ...named } = sent.lead
  const { values, faults } = readAmounts(sent, reading)
  const told = {
    ...sent,
    lead: { ...named, match_on_details },
    values,
    occurred_at: sent.occurred_at ?? undefined,
    type: sent.type ?? '',
  }
  const input = OutcomeInput.safeParse(told, { error: plainWords })
  const unreadable = Object.fromEntries([
    ...unusableTextsOf(OutcomeInput, told).map(([path, reason]) => [inputPath(path), reason] as const),
    ...sent.unreadable.map((part) => [part, 'is neither text nor a number'] as const),
  ])
  if (!input.success) {
    const wrong = reasonsOf(input.error.issues).map(({ path, reason }) => [inputPath(path), reason] as const)
    return { fields: { ...Object.fromEntries(wrong), ...faults, ...unreadable, ...missing(sent) } }
  }
  const read = readReport(input.data, reading)
  const fields = { ...('fields' in read && read.fields), ...faults, ...unreadable }
  if (Object.keys(fields).length > 0 || 'fields' in read) return { fields }
  try {
    return { report: read.report, lead: readReference(input.data) }
  } catch (error) {
    if (error instanceof Rejection) return { fields: error.fields ?? { lead: error.message } }
    throw error
  }
}

const missing = ({ occurred_at }: MappedOutcome): Fields =>
  occurred_at === null ? { occurred_at: 'is required, and there is nothing at its place in the event' } : {}

const readAmounts = ({ values: given }: MappedOutcome, { model, currency_code }: Reading) => {
  const values: Record<string, number> = {}
  const faults: Record<string, string> = {}
  for (const [key, text] of Object.entries(given)) {
    const unit = model.measures.find((measure) => measure.key === key)?.unit
    const value = unit === 'money' ? penceOf(text, currency_code) : numberOf(text)
    if (typeof value === 'number') values[key] = value
    else faults[`values.${key}`] = value.fault
  }
  return { values, faults }
}

type Amount = number | { readonly fault: string }

/** Pounds as an exact decimal; never rounded. */
const penceOf = (text: string, currency: string): Amount => {
  const [, sign = '', pounds] = /^(-?)(\d+(?:\.\d+)?)$/.exec(text) ?? []
  if (pounds === undefined) return { fault: noAmount(currency) }
  if (sign !== '') return { fault: 'must not be negative' }
  return exactMoney(pounds, currency) ?? { fault: noAmount(currency) }
}

const numberOf = (text: string): Amount => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : { fault: 'must be a number' })
