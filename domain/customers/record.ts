import { z } from 'zod'
import { CustomerId, OrganisationId } from '../values.ts'
import { ConsentEntry, CustomerDetails, VerifiableDetail, type CustomerEvent } from './events.ts'

export const ApplicationCustomer = z
  .object({ id: CustomerId, ...CustomerDetails.shape })
  .meta({ id: 'ApplicationCustomer' })
export type ApplicationCustomer = z.infer<typeof ApplicationCustomer>

export const nothingKnown: CustomerDetails = {
  title: null,
  first_name: null,
  last_name: null,
  email: null,
  phone_number: null,
  dob: null,
  postal_code: null,
  address_line1: null,
  address_line2: null,
  city: null,
  country: null,
}

/** A person's latest answer on one purpose and channel. */
export const ConsentHeld = ConsentEntry.extend({
  method: z.string(),
  wording: z.string().nullable(),
  said_at: z.iso.datetime(),
  source: z.object({ type: z.string(), id: z.uuid().nullable() }),
})
export type ConsentHeld = z.infer<typeof ConsentHeld>

/** A person's answer at one time, as it is listed. */
export const ConsentSaid = z
  .object({
    id: z.uuid(),
    contact_id: CustomerId,
    entries: z.array(ConsentEntry),
    method: z.string(),
    wording: z.string().nullable(),
    said_at: z.iso.datetime(),
    source: z.object({ type: z.string(), id: z.uuid().nullable() }),
    recorded_at: z.iso.datetime(),
  })
  .meta({ id: 'ConsentSaid' })
export type ConsentSaid = z.infer<typeof ConsentSaid>

const Source = z.object({ type: z.string(), id: z.uuid().nullable() })

/** A detail confirmed to be a person's. */
const Verified = z.object({ value: z.string(), method: z.string(), verified_at: z.iso.datetime(), source: Source })

/** A confirmation that something is a person's, or its withdrawal, as it is listed. */
export const VerificationSaid = z
  .object({
    id: z.uuid(),
    contact_id: CustomerId,
    detail: VerifiableDetail,
    value: z.string().nullable().describe('null: what was confirmed before was taken back.'),
    verified: z.boolean(),
    method: z.string(),
    source: Source,
    said_at: z.iso.datetime(),
    recorded_at: z.iso.datetime(),
  })
  .meta({ id: 'VerificationSaid' })
export type VerificationSaid = z.infer<typeof VerificationSaid>

/** A customer as the organisation knows them. */
export const Customer = ApplicationCustomer.extend({
  organisation_id: OrganisationId,
  /** Details that differed from those held, by the application or ingest that sent them, the latest last. */
  proposed: z.record(z.string(), CustomerDetails.partial()),
  /** One entry for each purpose and channel of which something is known. */
  consent: z.array(ConsentHeld),
  /** The detail confirmed last. It says nothing of an address or number that has replaced it. */
  verified: z.partialRecord(VerifiableDetail, Verified),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
})
export type Customer = z.infer<typeof Customer>

/** The customer after an event, for the command side and the read model alike. */
export const evolveCustomer = (
  customer: Customer | undefined,
  event: CustomerEvent,
  { occurred_at }: { readonly occurred_at: string },
): Customer | undefined => {
  if (event.type === 'CustomerCreated' || event.type === 'CustomerSentIn') {
    const { organisation_id, customer_id: id, details } = event
    const created = { proposed: {}, consent: [], verified: {}, created_at: occurred_at, updated_at: occurred_at }
    return { ...details, id, organisation_id, ...created }
  }
  if (!customer) return undefined

  switch (event.type) {
    case 'CustomerUpdated':
    case 'CustomerDetailsFilled':
      // JSON holds nothing undefined, which the type of the event allows.
      return { ...customer, ...(event.changed as Partial<CustomerDetails>), updated_at: occurred_at }
    case 'CustomerValuesProposed':
      return {
        ...customer,
        proposed: withProposal(customer.proposed, event.application_id, event.proposed),
        updated_at: occurred_at,
      }
    case 'CustomerDetailsProposed':
      return {
        ...customer,
        proposed: withProposal(customer.proposed, event.ingest_id, event.proposed),
        updated_at: occurred_at,
      }
    case 'CustomerProposalsSettled': {
      const { source_id, fields } = event
      const left = Object.entries(customer.proposed[source_id] ?? {}).filter(
        ([field]) => !fields.some((settled) => settled === field),
      )
      const proposed = withProposal(customer.proposed, source_id, Object.fromEntries(left))
      return { ...customer, proposed, updated_at: occurred_at }
    }
    case 'CustomerConsentRecorded':
      return { ...customer, consent: withConsent(customer.consent, event), updated_at: occurred_at }
    case 'CustomerDetailVerified': {
      const { detail, value, method, source } = event
      const verified = { ...customer.verified, [detail]: { value, method, verified_at: occurred_at, source } }
      return { ...customer, verified, updated_at: occurred_at }
    }
    case 'CustomerVerificationWithdrawn': {
      const { [event.detail]: _withdrawn, ...verified } = customer.verified
      return { ...customer, verified, updated_at: occurred_at }
    }
  }
}

/** Anyone can propose, as often as they like: what came long ago makes room. */
const mostProposals = 50

const withProposal = (
  earlier: Customer['proposed'],
  source_id: string,
  proposed: Customer['proposed'][string],
): Customer['proposed'] => {
  const others = Object.entries(earlier).filter(([id]) => id !== source_id)
  const own = Object.keys(proposed).length > 0 ? [[source_id, proposed] as const] : []
  return Object.fromEntries([...others, ...own].slice(-mostProposals))
}

const withConsent = (
  held: readonly ConsentHeld[],
  { entries, method, wording, said_at, source }: Extract<CustomerEvent, { type: 'CustomerConsentRecorded' }>,
): ConsentHeld[] => {
  const isSaidAnew = ({ purpose, channel }: ConsentEntry) =>
    entries.some((entry) => entry.purpose === purpose && entry.channel === channel)
  const said = entries.map((entry) => ({ ...entry, method, wording, said_at, source }))
  return [...held.filter((entry) => !isSaidAnew(entry)), ...said]
}

/** The person's present email address, or telephone number, is the one that was confirmed. */
export const isVerified = (
  customer: Pick<Customer, VerifiableDetail | 'verified'>,
  detail: VerifiableDetail,
): boolean => customer[detail] !== null && customer.verified[detail]?.value === customer[detail]

export const detailsOf = (customer: CustomerDetails): CustomerDetails => CustomerDetails.parse(customer)

/** The name of a person as it is compared: without case, accents, spaces and signs. Null without first and last name. */
export const nameKey = ({
  first_name,
  last_name,
}: Pick<CustomerDetails, 'first_name' | 'last_name'>): string | null => {
  if (first_name === null || last_name === null) return null
  const plain = (name: string) =>
    name
      .normalize('NFKD')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]/gu, '')
  const key = `${plain(first_name)} ${plain(last_name)}`
  return key.trim().includes(' ') ? key : null
}
