import { event, type EventOf } from '../event.ts'
import { ApplicationId, CustomerId, OrganisationId } from '../values.ts'
import { CustomerDetails } from './details.ts'

const Some = CustomerDetails.partial()

/** Stream `customer-<customer id>`, the id made from the organisation and the email address. */
export const customerEvents = {
  CustomerCreated: event({
    organisation_id: OrganisationId,
    customer_id: CustomerId,
    details: CustomerDetails,
    application_id: ApplicationId,
  }),
  CustomerUpdated: event({ changed: Some, application_id: ApplicationId }),
  /** What a web page was told of the customer and differs from what is held: for the team to judge. */
  CustomerValuesProposed: event({ proposed: Some, application_id: ApplicationId }),
}
export type CustomerEvent = EventOf<typeof customerEvents>
