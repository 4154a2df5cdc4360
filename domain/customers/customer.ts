import { isSameJson } from '../canonical-json.ts'
import type { Decider } from '../decider.ts'
import type { ApplicationId, CustomerId, OrganisationId } from '../values.ts'
import { customerEvents, type CustomerEvent } from './events.ts'
import { evolveCustomer, type Customer, type CustomerDetails } from './record.ts'

/** What an application was told of its customer. */
export type RecordCustomer = {
  readonly type: 'RecordCustomer'
  readonly organisation_id: OrganisationId
  readonly customer_id: CustomerId
  readonly application_id: ApplicationId
  /** All that the application holds. */
  readonly details: CustomerDetails
  /** What it was told just now. */
  readonly sent: Partial<CustomerDetails>
  readonly by: 'server' | 'browser'
}

const decide = (command: RecordCustomer, customer: Customer | undefined): readonly CustomerEvent[] => {
  const { application_id, sent, by } = command
  if (!customer) {
    const { organisation_id, customer_id, details } = command
    return [{ type: 'CustomerCreated', organisation_id, customer_id, details, application_id }]
  }
  const differing = difference(customer, sent)
  const isDifferent = Object.keys(differing).length > 0
  if (by === 'server') return isDifferent ? [{ type: 'CustomerUpdated', changed: differing, application_id }] : []

  // Anyone may name anyone's email address on a web page, so what is typed there changes no record.
  const isProposed = isSameJson(customer.proposed[application_id] ?? {}, differing)
  return isProposed ? [] : [{ type: 'CustomerValuesProposed', proposed: differing, application_id }]
}

const difference = (held: CustomerDetails, sent: Partial<CustomerDetails>): Partial<CustomerDetails> =>
  Object.fromEntries(Object.entries(sent).filter(([name, value]) => value !== held[name as keyof CustomerDetails]))

export const customer: Decider<RecordCustomer, typeof customerEvents, Customer | undefined> = {
  category: 'customer',
  events: customerEvents,
  initialState: undefined,
  decide,
  evolve: evolveCustomer,
}
