import type { CustomerGiven } from '#domain/applications/save-customer.ts'
import { CustomerId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import type { Caller } from '#infra/http/route.ts'
import { readCustomer } from '../customer-input.ts'
import type { CustomerDetails } from '#domain/customers/events.ts'

/** What is known of a customer of the organisation. */
export type KnownCustomer = (id: CustomerId) => Promise<CustomerDetails | undefined>

type Facts = {
  readonly caller: Caller
  readonly today: string
  /** What the application holds already. */
  readonly held: { readonly id: CustomerId; readonly country: string | null } | null
}

/** The details that a request sent of a person, tidied, with what the caller may know of the customer they name. */
export const customerGiven = async (
  sent: Readonly<Record<string, unknown>>,
  { caller, today, held }: Facts,
  knownCustomer: KnownCustomer,
): Promise<CustomerGiven> => {
  const { details, refused } = readCustomer(sent, { today, country: held?.country ?? null })
  const { email } = details
  const customer_id =
    typeof email === 'string' ? CustomerId.parse(derivedId('customer', caller.organisation_id, email)) : undefined
  const named = customer_id ?? held?.id
  const known = caller.kind === 'server' && named ? await knownCustomer(named) : undefined
  return { details, refused, customer_id, known }
}
