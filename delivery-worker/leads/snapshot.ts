import { isVerified, type ConsentHeld, type Customer } from '#domain/customers/record.ts'
import type { Json } from '#domain/event.ts'
import type { FactValue } from '#domain/leads/events.ts'
import type { LeadRecord } from '#domain/leads/record.ts'
import { decimalMoney } from '#domain/money.ts'
import type { CustomField, Pipeline, TeamMember } from '#domain/pipeline/events.ts'
import { Channel, type CustomerId } from '#domain/values.ts'

type PersonOf = Pick<Customer, 'id' | 'first_name' | 'last_name' | 'email' | 'phone_number' | 'consent' | 'verified'>

type OfLead = Pick<LeadRecord, 'contact_id' | 'facts'> & {
  readonly external_system_id: string | null
  readonly tps: LeadRecord['tps']
  readonly work: Work
}

/** The organisation's pipeline, and the currency of its amounts. */
type Firm = { readonly pipeline: Pipeline; readonly currency: string }

/** A lead and the person as receivers are shown them, as they are now. Every key is always there. */
export const leadSnapshot = (lead: LeadRecord, person: PersonOf | null, firm: Firm): Json => {
  const { marks, ...known } = lead
  return shownOf(
    { ...known, external_system_id: marks.external_system_id, work: workOf(lead, firm.pipeline) },
    person,
    firm,
  )
}

/** The same of a person who has no lead record: nobody works with them, and nothing beside their details is known. */
export const personSnapshot = (contact_id: CustomerId, person: PersonOf | null, firm: Firm): Json =>
  shownOf({ contact_id, facts: {}, external_system_id: null, tps: null, work: noWork }, person, firm)

const shownOf = (lead: OfLead, person: PersonOf | null, firm: Firm): Json => {
  const contact = contactOf(lead, person)
  return {
    contact,
    lead: { ...contact, ...lead.work, fields: fieldsOf(lead, firm.pipeline) },
    facts: displayed(lead, firm),
  }
}

const contactOf = ({ contact_id, external_system_id, tps }: OfLead, person: PersonOf | null): Json => {
  const { first_name = null, last_name = null, email = null, phone_number = null } = person ?? {}
  // Another number was never screened.
  const isScreened = tps !== null && tps.phone_number === phone_number
  return {
    contact_id,
    external_system_id,
    name: [first_name, last_name].filter((each) => each !== null).join(' ') || null,
    first_name,
    last_name,
    email,
    phone: phone_number,
    email_verified: person !== null && isVerified(person, 'email'),
    phone_verified: person !== null && isVerified(person, 'phone_number'),
    consent: consentOf(person?.consent ?? []),
    tps_status: isScreened ? tps.status : null,
  }
}

const purposes = ['service', 'first_party_marketing'] as const

/** The consent held for each purpose over each channel. Unknown is not consent. */
const consentOf = (held: readonly ConsentHeld[]): Json =>
  Object.fromEntries(
    purposes.map((purpose) => [
      purpose,
      Object.fromEntries(
        Channel.options.map((channel) => {
          const said = held.find((entry) => entry.purpose === purpose && entry.channel === channel)
          return [channel, said?.state ?? 'unknown'] as const
        }),
      ),
    ]),
  )

const noWork = {
  stage: null,
  status: null,
  score: null,
  owner_id: null,
  owner: null,
  last_touched_at: null,
  buying_signal: null,
  follow_up: null,
  outcome_reason: null,
  priority: null,
  vulnerable: null,
  snoozed_until: null,
  archived: null,
  next_action: null,
} as const
type Work = Readonly<Record<keyof typeof noWork, Json[string]>>

const workOf = (lead: LeadRecord, { team_members }: Pipeline): Work => {
  const { shown, marks, owner_id, outcome_reason, vulnerable, snoozed_until, next_action } = lead
  return {
    stage: shown.stage.key,
    status: shown.status,
    score: shown.score,
    owner_id,
    owner: ownerOf(owner_id, team_members),
    last_touched_at: shown.last_touched_at,
    buying_signal: marks.buying_signal,
    follow_up: marks.follow_up,
    outcome_reason,
    priority: marks.priority,
    vulnerable,
    snoozed_until,
    archived: marks.archived,
    next_action: next_action && {
      type: next_action.type,
      summary: next_action.summary,
      due_at: next_action.due_at,
    },
  }
}

const ownerOf = (owner_id: string | null, team: readonly TeamMember[]): Json | null => {
  if (owner_id === null) return null
  const member = team.find(({ id }) => id === owner_id)
  return { id: owner_id, name: member?.full_name ?? null, email: member?.email ?? null }
}

/** Every field that the organisation has set up, in its type; null when it is not known. */
const fieldsOf = ({ facts }: Pick<LeadRecord, 'facts'>, { custom_fields }: Pipeline): Json =>
  Object.fromEntries(custom_fields.map((field) => [field.key, typed(field, facts[field.key])]))

/** A value in the type of its field. One that was told in another form, and cannot be read in this one, is not known. */
const typed = ({ type }: CustomField, value: FactValue | undefined): FactValue | null => {
  if (value === undefined) return null
  switch (type) {
    case 'number':
    case 'money':
      return numberIn(value)
    case 'boolean':
      return booleanIn(value)
    case 'choices':
      return Array.isArray(value) ? value : [value]
    case 'text':
    case 'date':
    case 'choice':
      return Array.isArray(value) ? value.join(', ') : String(value)
  }
}

const numberIn = (value: FactValue): number | null => {
  if (typeof value === 'number') return value
  const isText = typeof value === 'string' && value.trim() !== ''
  const number = isText ? Number(value) : Number.NaN
  return Number.isFinite(number) ? number : null
}

const booleanIn = (value: FactValue): boolean | null => {
  if (typeof value === 'boolean') return value
  if (value === 'true') return true
  return value === 'false' ? false : null
}

/** The fields that have a value, as a person would read them. */
const displayed = ({ facts }: Pick<LeadRecord, 'facts'>, { pipeline, currency }: Firm): Json =>
  Object.fromEntries(
    pipeline.custom_fields.flatMap((field) => {
      const value = typed(field, facts[field.key])
      return value === null || (Array.isArray(value) && value.length === 0)
        ? []
        : [[field.key, textOf(field, value, currency)]]
    }),
  )

const textOf = ({ type }: CustomField, value: FactValue, currency: string): string => {
  if (Array.isArray(value)) return value.join(', ')
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  return type === 'money' && typeof value === 'number' ? decimalMoney(value, currency) : String(value)
}
