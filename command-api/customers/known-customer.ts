import { customer } from '#domain/customers/customer.ts'
import { detailsOf } from '#domain/customers/record.ts'
import type { CustomerId } from '#domain/values.ts'
import { commandHandler, type Writer } from '../handle.ts'
import type { CustomerDetails } from '#domain/customers/events.ts'

/** What is known of a customer, from their own stream. */
export const knownCustomers = (writer: Writer) => {
  const { load } = commandHandler(writer, customer)

  return async (id: CustomerId): Promise<CustomerDetails | undefined> => {
    const known = await load(id)
    return known && detailsOf(known)
  }
}
