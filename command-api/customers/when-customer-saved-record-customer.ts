import { applicationEvents } from '#domain/applications/events.ts'
import { customer } from '#domain/customers/customer.ts'
import type { CustomerDetails } from '#domain/customers/record.ts'
import { idOf } from '#domain/event.ts'
import { ApplicationId, OrganisationId } from '#domain/values.ts'
import { commandHandler, type Writer } from '../handle.ts'
import { because, type Reaction } from '../reaction.ts'

const { CustomerSaved } = applicationEvents
const name = 'when-customer-saved-record-customer'

/** What an application is told of its customer reaches the customer's own record. */
export const whenCustomerSavedRecordCustomer = (writer: Writer): Reaction<{ CustomerSaved: typeof CustomerSaved }> => {
  const { handle } = commandHandler(writer, customer)

  return {
    name,
    categories: ['application'],
    events: { CustomerSaved },
    react: async ({ customer: { id, ...details }, sent, by }, recorded) => {
      const { organisation_id, occurred_at } = recorded.metadata
      await handle(
        id,
        {
          type: 'RecordCustomer',
          organisation_id: OrganisationId.parse(organisation_id),
          customer_id: id,
          application_id: ApplicationId.parse(idOf(recorded.stream)),
          details,
          sent: sent as Partial<CustomerDetails>, // JSON holds nothing undefined, which its type allows.
          by,
        },
        because(recorded, name, occurred_at),
      )
    },
  }
}
