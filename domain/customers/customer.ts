import { isSameJson } from '../canonical-json.ts'
import type { Decider } from '../decider.ts'
import type { ApplicationId, CustomerId, OrganisationId } from '../values.ts'
import { customerEvents, type CustomerEvent, type CustomerDetails } from './events.ts'
import { evolveCustomer, type Customer } from './record.ts'
import { recordConsent, sendIn, settleProposals, type LaterCustomerCommand } from './send-in.ts'
import { verifyDetail, withdrawVerification } from './verification.ts'

/** Customer details that were sent to an application. */
export type RecordCustomer = {
  readonly type: 'RecordCustomer'
  readonly organisation_id: OrganisationId
  readonly customer_id: CustomerId
  readonly application_id: ApplicationId
  /** All that the application holds. */
  readonly details: CustomerDetails
  /** The details sent now. */
  readonly sent: Partial<CustomerDetails>
  readonly by: 'server' | 'browser'
}

const recordCustomer = (command: RecordCustomer, customer: Customer | undefined): readonly CustomerEvent[] => {
  const { application_id, sent, by } = command
  if (!customer) {
    const { organisation_id, customer_id, details } = command
    return [{ type: 'CustomerCreated', organisation_id, customer_id, details, application_id }]
  }
  if (by === 'server') {
    const changed = difference(customer, sent)
    return Object.keys(changed).length > 0 ? [{ type: 'CustomerUpdated', changed, application_id }] : []
  }
  // Anyone may name anyone's email address on a web page, so what is typed there changes no record. But the address by
  // which a person without one is known from now on is theirs: it was claimed for them.
  if (customer.email === null && typeof sent.email === 'string')
    return [{ type: 'CustomerUpdated', changed: { email: sent.email }, application_id }]
  const before = customer.proposed[application_id] ?? {}
  const proposed = difference(customer, { ...before, ...sent })
  return isSameJson(before, proposed) ? [] : [{ type: 'CustomerValuesProposed', proposed, application_id }]
}

export type CustomerCommand = RecordCustomer | LaterCustomerCommand

type Proposed = Customer['proposed'][string]

const difference = (held: CustomerDetails, sent: Proposed): Partial<CustomerDetails> =>
  Object.fromEntries(Object.entries(sent).filter(([name, value]) => value !== held[name as keyof CustomerDetails]))

const decide = (command: CustomerCommand, customer: Customer | undefined): readonly CustomerEvent[] => {
  switch (command.type) {
    case 'RecordCustomer':
      return recordCustomer(command, customer)
    case 'SendCustomerIn':
      return sendIn(command, customer)
    case 'SettleProposals':
      return settleProposals(command, customer)
    case 'RecordConsent':
      return customer ? recordConsent(command.said, customer) : []
    case 'VerifyDetail':
      return verifyDetail(command, customer)
    case 'WithdrawVerification':
      return withdrawVerification(command, customer)
  }
}

export const customer: Decider<CustomerCommand, typeof customerEvents, Customer | undefined> = {
  category: 'customer',
  events: customerEvents,
  initialState: undefined,
  decide,
  evolve: evolveCustomer,
}
