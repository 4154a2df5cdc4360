import { applicationEvents } from '#domain/applications/events.ts'
import { customer } from '#domain/customers/customer.ts'
import type { CustomerDetails } from '#domain/customers/events.ts'
import { idOf, type EventOf, type RecordedEvent } from '#domain/event.ts'
import { ApplicationId, OrganisationId } from '#domain/values.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import type { Reaction } from '../reactions/reaction.ts'
import { recordAnswers, type Answered } from './consent.ts'
import type { makePeople } from './people.ts'

const { CustomerSaved, PartnerSaved } = applicationEvents

type PersonSaved = EventOf<{ CustomerSaved: typeof CustomerSaved; PartnerSaved: typeof PartnerSaved }>

const detailsOf = (event: PersonSaved) => (event.type === 'CustomerSaved' ? event.customer : event.partner)

type Saved = Extract<PersonSaved, { type: 'CustomerSaved' }>

type Consent = {
  readonly people: Pick<ReturnType<typeof makePeople>, 'handle'>
  readonly answersOf: (recorded: RecordedEvent, saved: Saved) => Promise<readonly Answered[]>
}

/** The details that an application received of the first or second person are recorded in the person's own record,
 * and then what the first said to being contacted. */
export const whenCustomerSavedRecordCustomer = (
  writer: Writer,
  consent?: Consent,
): Reaction<{ CustomerSaved: typeof CustomerSaved; PartnerSaved: typeof PartnerSaved }> => {
  const { handle } = commandHandler(writer, customer)

  return {
    name: 'when-customer-saved-record-customer',
    categories: ['application'],
    events: { CustomerSaved, PartnerSaved },
    target: ({ customer_id }) => `${customer.category}-${customer_id}`,
    react: async (event, recorded, context) => {
      const { customer_id, sent, by } = event
      const application_id = ApplicationId.parse(idOf(recorded.stream))
      await handle(
        customer_id,
        {
          type: 'RecordCustomer',
          organisation_id: OrganisationId.parse(context.organisation_id),
          customer_id,
          application_id,
          details: detailsOf(event),
          sent: sent as Partial<CustomerDetails>, // JSON holds nothing undefined, which its type allows.
          by,
        },
        context,
      )
      if (event.type === 'PartnerSaved' || !consent) return
      const { people, answersOf } = consent
      await recordAnswers(people, customer_id, application_id, await answersOf(recorded, event), context)
    },
  }
}
