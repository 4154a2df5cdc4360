import { isSameJson } from '../canonical-json.ts'
import { Rejection } from '../rejection.ts'
import type { CustomerId, IngestId, OrganisationId } from '../values.ts'
import type { ConsentEntry, CustomerDetails, CustomerEvent } from './events.ts'
import { nothingKnown, type Customer } from './record.ts'
import type { VerificationCommand } from './verification.ts'

/** A person's answers on being contacted. */
export type ConsentSaid = Omit<Extract<CustomerEvent, { type: 'CustomerConsentRecorded' }>, 'type'>

/** Details and consent from a lead. */
export type SendCustomerIn = {
  readonly type: 'SendCustomerIn'
  readonly organisation_id: OrganisationId
  readonly customer_id: CustomerId
  readonly ingest_id: IngestId
  readonly details: Partial<CustomerDetails>
  /** Details that must not become the person's own without the team, since they are another's. */
  readonly contested: readonly (keyof CustomerDetails)[]
  readonly consent: ConsentSaid | null
}

export type LaterCustomerCommand =
  | SendCustomerIn
  | {
      readonly type: 'SettleProposals'
      /** The ingest or application that proposed them. */
      readonly source_id: string
      readonly accept: readonly (keyof CustomerDetails)[]
      readonly refuse: readonly (keyof CustomerDetails)[]
    }
  | { readonly type: 'RecordConsent'; readonly said: ConsentSaid }
  | VerificationCommand

type Decision = readonly CustomerEvent[]

const picked = (details: Partial<CustomerDetails>, wanted: (field: keyof CustomerDetails) => boolean) =>
  Object.fromEntries(
    Object.entries(details).filter(([field, value]) => value !== null && wanted(field as keyof CustomerDetails)),
  ) as Partial<CustomerDetails>

/** Missing details are filled in; different ones are proposed, and never overwrite. */
export const sendIn = (command: SendCustomerIn, customer: Customer | undefined): Decision => {
  const { organisation_id, customer_id, ingest_id, details, contested, consent } = command
  const held = customer ?? nothingKnown
  const changed = picked(details, (field) => held[field] === null && !contested.includes(field))
  const proposed = picked(details, (field) =>
    held[field] === null ? contested.includes(field) : held[field] !== details[field],
  )
  const first: Decision = customer
    ? Object.keys(changed).length > 0
      ? [{ type: 'CustomerDetailsFilled', changed, ingest_id }]
      : []
    : [
        {
          type: 'CustomerSentIn',
          organisation_id,
          customer_id,
          details: { ...nothingKnown, ...changed },
          ingest_id,
        },
      ]
  return [
    ...first,
    ...(Object.keys(proposed).length > 0 ? [{ type: 'CustomerDetailsProposed', proposed, ingest_id } as const] : []),
    ...(consent ? recordConsent(consent, { consent: customer?.consent ?? [] }) : []),
  ]
}

const isSameEntry = (one: ConsentEntry, other: ConsentEntry): boolean =>
  one.purpose === other.purpose && one.channel === other.channel

/** Only what is new, or was said later than what is held. What nobody said is not set against what somebody did. */
export const recordConsent = (said: ConsentSaid, { consent }: Pick<Customer, 'consent'>): Decision => {
  const entries = said.entries.filter((entry) => {
    const held = consent.find((each) => isSameEntry(each, entry))
    if (!held) return true
    if (entry.state === 'granted' && entry.basis === 'soft_opt_in') return false
    const isSame = held.state === entry.state && held.basis === entry.basis && held.said_at === said.said_at
    return !isSame && held.said_at <= said.said_at
  })
  return entries.length > 0 ? [{ type: 'CustomerConsentRecorded', ...said, entries }] : []
}

export const settleProposals = (
  { source_id, accept, refuse }: Extract<LaterCustomerCommand, { type: 'SettleProposals' }>,
  customer: Customer | undefined,
): Decision => {
  if (!customer) throw new Rejection('not_found', 'There is no person with this id. Check the address.')
  const proposed = customer.proposed[source_id] ?? {}
  const fields = [...new Set([...accept, ...refuse])].filter((field) => proposed[field] !== undefined)
  if (fields.length === 0) return []
  const changed = picked(proposed as Partial<CustomerDetails>, (field) => accept.includes(field))
  const differs = !isSameJson(
    changed,
    picked(customer, (field) => changed[field] !== undefined),
  )
  return [
    ...(Object.keys(changed).length > 0 && differs
      ? [{ type: 'CustomerDetailsFilled', changed, ingest_id: null } as const]
      : []),
    { type: 'CustomerProposalsSettled', source_id, fields },
  ]
}
