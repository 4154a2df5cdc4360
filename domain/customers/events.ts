import { event, personal, type EventOf } from '../event.ts'
import { ApplicationId, CustomerId, OrganisationId } from '../values.ts'
import { CustomerDetails } from './details.ts'

const Some = CustomerDetails.partial()

const ownStream = { subject: (_data: unknown, customerId: string) => customerId }

/** Stream `customer-<customer id>`, the id made from the organisation and the email address. */
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
  /** What a web page was told of the customer and differs from what is held: for the team to judge. */
  CustomerValuesProposed: event({ proposed: personal(Some), application_id: ApplicationId }, ownStream),
}
export type CustomerEvent = EventOf<typeof customerEvents>
