import { z } from 'zod'
import { CustomerId, OrganisationId } from '../values.ts'
import { CustomerDetails, type CustomerEvent } from './events.ts'

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

/** A customer as the organisation knows them. */
export const Customer = ApplicationCustomer.extend({
  organisation_id: OrganisationId,
  /** By application, the latest last: what its web page sent that differed from what was stored. */
  proposed: z.record(z.string(), CustomerDetails.partial()),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
})
export type Customer = z.infer<typeof Customer>

/** What a customer's events add up to, for the command side and the read model alike. */
export const evolveCustomer = (
  customer: Customer | undefined,
  event: CustomerEvent,
  { occurred_at }: { readonly occurred_at: string },
): Customer | undefined => {
  if (event.type === 'CustomerCreated') {
    const { organisation_id, customer_id: id, details } = event
    return { ...details, id, organisation_id, proposed: {}, created_at: occurred_at, updated_at: occurred_at }
  }
  if (!customer) return undefined

  switch (event.type) {
    case 'CustomerUpdated':
      // JSON holds nothing undefined, which the type of the event allows.
      return { ...customer, ...(event.changed as Partial<CustomerDetails>), updated_at: occurred_at }
    case 'CustomerValuesProposed':
      return { ...customer, proposed: withProposal(customer.proposed, event), updated_at: occurred_at }
  }
}

/** Anyone can propose, as often as they like: what came long ago makes room. */
const mostProposals = 50

const withProposal = (
  earlier: Customer['proposed'],
  { application_id, proposed }: Extract<CustomerEvent, { type: 'CustomerValuesProposed' }>,
): Customer['proposed'] => {
  const others = Object.entries(earlier).filter(([id]) => id !== application_id)
  const own = Object.keys(proposed).length > 0 ? [[application_id, proposed] as const] : []
  return Object.fromEntries([...others, ...own].slice(-mostProposals))
}

export const detailsOf = (customer: CustomerDetails): CustomerDetails => CustomerDetails.parse(customer)
