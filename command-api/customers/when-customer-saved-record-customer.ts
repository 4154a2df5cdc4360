import { applicationEvents } from '#domain/applications/events.ts'
import { customer } from '#domain/customers/customer.ts'
import type { CustomerDetails } from '#domain/customers/events.ts'
import { idOf } from '#domain/event.ts'
import { ApplicationId, OrganisationId } from '#domain/values.ts'
import { commandHandler, type Writer } from '../handle.ts'
import type { Reaction } from '../reaction.ts'

const { CustomerSaved } = applicationEvents

/** The customer's details that an application received are recorded in the customer's own record. */
export const whenCustomerSavedRecordCustomer = (writer: Writer): Reaction<{ CustomerSaved: typeof CustomerSaved }> => {
  const { handle } = commandHandler(writer, customer)

  return {
    name: 'when-customer-saved-record-customer',
    categories: ['application'],
    events: { CustomerSaved },
    target: ({ customer: { id } }) => `${customer.category}-${id}`,
    react: async ({ customer: { id, ...details }, sent, by }, recorded, context) => {
      await handle(
        id,
        {
          type: 'RecordCustomer',
          organisation_id: OrganisationId.parse(context.organisation_id),
          customer_id: id,
          application_id: ApplicationId.parse(idOf(recorded.stream)),
          details,
          sent: sent as Partial<CustomerDetails>, // JSON holds nothing undefined, which its type allows.
          by,
        },
        context,
      )
    },
  }
}
