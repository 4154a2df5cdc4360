import { z } from 'zod'
import { decimalMoney } from '#domain/money.ts'
import { valueFault } from '#domain/outcomes/calculate.ts'
import type { LeadReference, OutcomeModel, OutcomeType, Report } from '#domain/outcomes/events.ts'
import { Rejection, type Fields } from '#domain/rejection.ts'
import { findableText } from '#domain/invisible-characters.ts'
import { CalendarDate, CurrencyCode, CustomerId, SentInstant } from '#domain/values.ts'
import { readCustomer } from '../customer-input.ts'

export const longestEventId = 200

const text = (most: number) => z.string().trim().min(1).max(most)
const findable = (most: number) => z.string().overwrite(findableText).min(1).max(most)

export const LeadInput = z.object({
  id: CustomerId.nullish(),
  external_id: text(200).nullish().describe('The firm’s own id of the lead.'),
  email: findable(254).nullish(),
  phone: findable(50).nullish(),
  match_on_details: z
    .boolean()
    .nullish()
    .describe('Whether email and phone may find the lead: only when they belong to exactly one.'),
})

export const OutcomeInput = z.object({
  contact_id: CustomerId.nullish().describe('The lead; either this or lead.'),
  lead: LeadInput.nullish().describe('How to find the lead.'),
  type: z.string().describe('A key of the outcome model.'),
  // A union tells of the one form that fails last: the pipe has both tell.
  occurred_at: z
    .union([SentInstant, CalendarDate.pipe(z.string())])
    .describe('A time, or a date. At most 24 hours ahead.'),
  event_id: text(longestEventId).nullish().describe('The sender’s own id: a repeat records nothing.'),
  deal_ref: text(200).nullish().describe('The sale. A cancellation names here the sale that it cancels.'),
  product: text(200).nullish().describe('A product’s key, or one of its aliases.'),
  reason: text(200).nullish(),
  note: text(500).nullish(),
  currency: CurrencyCode.nullish().describe('The organisation’s by default.'),
  values: z
    .record(z.string(), z.number())
    .nullish()
    .describe('By measure: money in whole pence, percent as percentage, count as whole number.'),
})
export type OutcomeInput = z.output<typeof OutcomeInput>

const dayMs = 86_400_000

/** The currencies of ISO 4217. */
const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))

/** Files, and other systems, write amounts as people do. */
export const noAmount = (currency: string): string =>
  `must be an amount in ${currency === 'GBP' ? 'pounds' : currency}, as ${decimalMoney(1250, currency)}`

export type Reading = {
  readonly model: OutcomeModel
  /** Products of the catalogue, which count beside those of the model. */
  readonly slugs: readonly string[]
  readonly currency_code: string
  readonly now: string
}

/** A report, or its faults by input; each input is looked at. */
export type ReadReport = { readonly report: Report; readonly outcome_type: OutcomeType } | { readonly fields: Fields }

const productOf = ({ model, slugs }: Reading, code: string): string | undefined => {
  const lower = code.toLowerCase()
  const named = model.products.find(
    ({ key, aliases }) => key === lower || aliases.some((alias) => alias.toLowerCase() === lower),
  )
  return named?.key ?? slugs.find((slug) => slug === lower)
}

/** Tidies what was reported and holds it against the organisation's outcome model. */
export const readReport = (input: OutcomeInput, reading: Reading): ReadReport => {
  const { model, currency_code, now } = reading
  const fields: Record<string, string> = {}
  const outcome_type = model.types.find(({ key }) => key === input.type)
  if (!outcome_type) fields['type'] = `must be one of ${model.types.map(({ key }) => key).join(', ')}`

  const instant = new Date(input.occurred_at)
  if (instant.getTime() > Date.parse(now) + dayMs) fields['occurred_at'] = 'must not be more than 24 hours ahead'

  const product = input.product ? productOf(reading, input.product) : undefined
  if (input.product && !product) fields['product'] = 'is neither a product of the outcome model nor an alias of one'
  if (outcome_type?.product === 'required' && !input.product) fields['product'] = `is required for ${input.type}`
  if (outcome_type?.product === 'none' && input.product) fields['product'] = `has no place in ${input.type}`

  if (input.currency && !currencies.has(input.currency)) fields['currency'] = 'is no currency code of ISO 4217'

  const values: Record<string, number> = {}
  for (const [key, value] of Object.entries(input.values ?? {})) {
    const declared = outcome_type?.values.find((each) => each.key === key)
    const unit = model.measures.find((measure) => measure.key === key)?.unit
    const fault = unit && valueFault(unit, value)
    if (!outcome_type || declared?.formula) continue
    if (!declared || !unit) fields[`values.${key}`] = `is no value of ${input.type}`
    else if (fault) fields[`values.${key}`] = fault
    else values[key] = value
  }
  if (!outcome_type || Object.keys(fields).length > 0) return { fields }
  return {
    outcome_type,
    report: {
      type: outcome_type.key,
      occurred_at: instant.toISOString(),
      deal_ref: input.deal_ref ?? null,
      product: product ?? null,
      reason: input.reason ?? null,
      note: input.note ?? null,
      currency: input.currency ?? currency_code,
      values,
    },
  }
}

/** The sender's reference to the lead, tidied as people's details are; only what may be used to find it. */
export const readReference = ({ contact_id, lead }: OutcomeInput): LeadReference => {
  const refuse = (reason: string): never => {
    throw new Rejection('validation_failed', 'Correct lead and send the request again.', { lead: reason })
  }
  if (contact_id && lead) refuse('must not be sent together with contact_id')
  if (contact_id) return { contact_id, external_id: null, email: null, phone: null }
  const { id = null, external_id = null, match_on_details = false } = lead ?? {}
  const details = match_on_details ? { email: lead?.email ?? null, phone_number: lead?.phone ?? null } : {}
  const { details: tidied, refused } = readCustomer(details, { today: '9999-12-31', country: null })
  const [wrong] = Object.entries(refused)
  if (wrong)
    throw new Rejection('validation_failed', 'Correct lead and send the request again.', {
      [`lead.${wrong[0] === 'email' ? 'email' : 'phone'}`]: wrong[1],
    })
  const { email = null, phone_number: phone = null } = tidied
  if (id === null && external_id === null && email === null && phone === null)
    refuse(
      lead?.email || lead?.phone
        ? 'can be found by email or phone only with match_on_details true'
        : 'must have an id, an external_id, or details with match_on_details true; or send contact_id',
    )
  return { contact_id: id, external_id, email, phone }
}

/** A refusal because of the lead names the input that said which one it is. */
export const namingLeadAs = async <Result>(input: string, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Rejection) || error.fields?.['lead'] === undefined) throw error
    const { lead, ...fields } = error.fields
    throw new Rejection(error.code, error.message, { ...fields, [input]: lead })
  }
}

export const leadInputOf = ({ contact_id }: Pick<OutcomeInput, 'contact_id'>): string =>
  contact_id ? 'contact_id' : 'lead'
