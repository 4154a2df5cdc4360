import { customerEvents } from '#domain/customers/events.ts'
import { idOf } from '#domain/event.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import type { Leads } from './live-leads.ts'
import type { Reaction } from '../reactions/reaction.ts'

const { CustomerUpdated, CustomerDetailsFilled } = customerEvents

const followed = { CustomerUpdated, CustomerDetailsFilled }

/** A lead's feed tells which details of the person have changed, never what they are. */
export const whenCustomerUpdatedRecordChange = (leads: Leads): Reaction<typeof followed> => ({
  name: 'when-customer-updated-record-change',
  categories: ['customer'],
  events: followed,
  target: (_event, { stream }) => leads.stream(CustomerId.parse(idOf(stream))),
  react: async (event, { stream }, context) => {
    const { changed } = event
    // What an ingest fills in it tells of by itself, with its campaign.
    if (event.type === 'CustomerDetailsFilled' && event.ingest_id !== null) return
    const contact_id = CustomerId.parse(idOf(stream))
    if (!(await leads.find(OrganisationId.parse(context.organisation_id), contact_id))) return
    const act = { type: 'RecordDetailsChange', changed: Object.keys(changed) } as const
    await leads.handle({ contact_id, acts: [act], by: { type: 'system', name: null } }, context)
  },
})
