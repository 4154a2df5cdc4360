import type { Customer } from '#domain/customers/record.ts'
import type { CustomerId, OrganisationId } from '#domain/values.ts'

export type People = {
  readonly record: (organisation_id: OrganisationId, id: CustomerId) => Promise<Customer | undefined>
}
