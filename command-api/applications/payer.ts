import type { ApplicationState } from '#domain/applications/state.ts'
import { Problem } from '#infra/http/problem.ts'
import type { Outcome, Payer, Provider } from '#infra/stripe/provider.ts'

const needed = ['customer.first_name', 'customer.last_name', 'customer.email']

/** The payer: the application's own copy of the customer. Throws `customer_missing` while there is none. */
export const payerOf = ({ record: { customer } }: ApplicationState): Payer => {
  if (!customer)
    throw new Problem('customer_missing', `Save ${needed.join(', ')} on the application first.`, {
      fields: Object.fromEntries(needed.map((name) => [name, 'required'])),
    })
  return {
    customer_id: customer.id,
    email: customer.email,
    name: [customer.first_name, customer.last_name].filter((part) => part !== null).join(' '),
    address: {
      line1: customer.address_line1,
      line2: customer.address_line2,
      city: customer.city,
      postal_code: customer.postal_code,
      country: customer.country !== null && /^[A-Z]{2}$/.test(customer.country) ? customer.country : null,
    },
  }
}

/** Does something for the payer, whom the provider is told of first; the same details make no second customer there. */
export const forPayer = async <Value>(
  provider: Provider,
  payer: Payer,
  work: (provider_customer_id: string) => Promise<Outcome<Value>>,
): Promise<Outcome<Value & { readonly provider_customer_id: string }>> => {
  const customer = await provider.createCustomer(payer)
  if (customer.outcome !== 'done') return customer
  const done = await work(customer.value)
  return done.outcome === 'done'
    ? { outcome: 'done', value: { ...done.value, provider_customer_id: customer.value } }
    : done
}
