import { z } from 'zod'
import { event, personal, type EventOf } from '../event.ts'
import { ConsentPurpose } from '../campaigns/events.ts'
import { ApplicationId, CalendarDate, Channel, CustomerId, IngestId, OrganisationId } from '../values.ts'

/** A person's details, tidied; null where one is missing. */
export const CustomerDetails = z.object({
  title: z.string().nullable(),
  first_name: z.string().nullable(),
  last_name: z.string().nullable(),
  /** Lower-case: by it a customer is known within the organisation. */
  email: z.string().nullable(),
  /** E.164 where the number could be read, otherwise as typed. */
  phone_number: z.string().nullable(),
  dob: CalendarDate.nullable(),
  postal_code: z.string().nullable(),
  address_line1: z.string().nullable(),
  address_line2: z.string().nullable(),
  city: z.string().nullable(),
  country: z.string().nullable(),
})
export type CustomerDetails = z.infer<typeof CustomerDetails>

const Some = CustomerDetails.partial()

/** A person's answer to being contacted, for one purpose over one channel. */
export const ConsentEntry = z.object({
  purpose: ConsentPurpose,
  channel: Channel,
  state: z.enum(['granted', 'refused', 'withdrawn']),
  basis: z.enum(['consent', 'soft_opt_in']),
})
export type ConsentEntry = z.infer<typeof ConsentEntry>

/** The fields of a person that can be proposed and settled. */
const Field = CustomerDetails.keyof()

/** A detail that a person can confirm as theirs. */
export const VerifiableDetail = z.enum(['email', 'phone_number'])
export type VerifiableDetail = z.infer<typeof VerifiableDetail>

const verification = {
  detail: VerifiableDetail,
  /** Evidence that it is theirs, for example `they called from this number`. */
  method: personal(z.string()),
  source: z.object({ type: z.enum(['operator', 'link']), id: z.uuid().nullable() }),
}

const ownStream = { subject: (_data: unknown, customerId: string) => customerId }

/** Stream `customer-<customer id>`: one for each person, whether they are the first or the second of an application. */
export const customerEvents = {
  CustomerCreated: event(
    {
      organisation_id: OrganisationId,
      customer_id: CustomerId,
      details: personal(CustomerDetails),
      application_id: ApplicationId,
    },
    ownStream,
  ),
  CustomerUpdated: event({ changed: personal(Some), application_id: ApplicationId }, ownStream),
  /** Customer details from a web page that differ from those stored: for the team to judge. */
  CustomerValuesProposed: event({ proposed: personal(Some), application_id: ApplicationId }, ownStream),
  /** A lead named somebody who was not known. */
  CustomerSentIn: event(
    {
      organisation_id: OrganisationId,
      customer_id: CustomerId,
      details: personal(CustomerDetails),
      ingest_id: IngestId,
    },
    ownStream,
  ),
  /** Missing details were filled in; `ingest_id` null: the team accepted proposed ones. */
  CustomerDetailsFilled: event({ changed: personal(Some), ingest_id: IngestId.nullable() }, ownStream),
  /** Details from a lead that differ from those held: for the team to judge. */
  CustomerDetailsProposed: event({ proposed: personal(Some), ingest_id: IngestId }, ownStream),
  /** The team has judged what the ingest, or the application, of this id proposed. */
  CustomerProposalsSettled: event({ source_id: z.uuid(), fields: z.array(Field) }, ownStream),
  CustomerConsentRecorded: event(
    {
      entries: z.array(ConsentEntry),
      /** The person's way of answering, and the wording answered. */
      method: personal(z.string()),
      wording: personal(z.string()).nullable(),
      said_at: z.iso.datetime(),
      source: z.object({
        type: z.enum(['ingest', 'application', 'operator', 'link', 'reply']),
        id: z.uuid().nullable(),
      }),
    },
    ownStream,
  ),
  /** The team, or the person by a link, has confirmed that this address or number is theirs. */
  CustomerDetailVerified: event({ ...verification, value: personal(z.string()) }, ownStream),
  /** The team takes back that the address or number which was confirmed is theirs. */
  CustomerVerificationWithdrawn: event(verification, ownStream),
}
export type CustomerEvent = EventOf<typeof customerEvents>

/** An identifier of one person only, so that it finds them. */
export const IdentityKind = z.enum(['email', 'external_id'])
export type IdentityKind = z.infer<typeof IdentityKind>

/**
 * Stream `identity-<id>`, the id an HMAC of kind and value under a key of the organisation, so that it is impossible to guess the
 * value, and "no such stream yet" is what makes an email address one person's.
 */
export const identityEvents = {
  IdentityClaimed: event({ organisation_id: OrganisationId, kind: IdentityKind, customer_id: CustomerId }),
}
export type IdentityEvent = EventOf<typeof identityEvents>
