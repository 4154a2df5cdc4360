import { z } from 'zod'
import { event, personal, type EventOf } from '../event.ts'
import { ApplicationId, CalendarDate, CustomerId, OrganisationId } from '../values.ts'

/** What is known of a person, tidied; null where it is not known. */
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
  /** What a web page sent about the customer and differs from what is stored: for the team to judge. */
  CustomerValuesProposed: event({ proposed: personal(Some), application_id: ApplicationId }, ownStream),
}
export type CustomerEvent = EventOf<typeof customerEvents>

/** What belongs to one person only, so that the person is known by it. */
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
