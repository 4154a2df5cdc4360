import { z } from 'zod'
import { CalendarDate, CustomerId } from '../values.ts'

/** What is known of a person, tidied; null where it is not known. */
export const CustomerDetails = z.object({
  title: z.string().nullable(),
  first_name: z.string().nullable(),
  last_name: z.string().nullable(),
  /** Lower-case: by it a customer is known within the organisation. */
  email: z.string().nullable(),
  /** E.164 where the number could be read, otherwise as typed. */
  phone_number: z.string().nullable(),
  dob: CalendarDate.nullable(),
  postal_code: z.string().nullable(),
  address_line1: z.string().nullable(),
  address_line2: z.string().nullable(),
  city: z.string().nullable(),
  country: z.string().nullable(),
})
export type CustomerDetails = z.infer<typeof CustomerDetails>

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
