import type { ConsentEntry, CustomerDetails, CustomerEvent, IdentityKind } from '#domain/customers/events.ts'
import type { Customer } from '#domain/customers/record.ts'
import type { CustomerId, IngestId, OrganisationId } from '#domain/values.ts'
import type { Context } from '../writing/handle.ts'

type Identity = { readonly organisation_id: OrganisationId; readonly kind: IdentityKind; readonly value: string }

type PersonCommand =
  | {
      readonly type: 'SendCustomerIn'
      readonly organisation_id: OrganisationId
      readonly customer_id: CustomerId
      readonly ingest_id: IngestId
      readonly details: Partial<CustomerDetails>
      readonly contested: readonly (keyof CustomerDetails)[]
      readonly consent: {
        readonly entries: ConsentEntry[]
        readonly method: string
        readonly wording: string | null
        readonly said_at: string
        readonly source: { readonly type: 'ingest'; readonly id: string | null }
      } | null
    }
  | {
      readonly type: 'SettleProposals'
      readonly source_id: string
      readonly accept: readonly (keyof CustomerDetails)[]
      readonly refuse: readonly (keyof CustomerDetails)[]
    }

/** The people of the organisations, as leads bring them in. */
export type People = {
  readonly stream: (id: CustomerId) => string
  readonly find: (identity: Identity) => Promise<CustomerId | undefined>
  /** Assigns the identity to a person, unless it is another's already. Returns the person who has it. */
  readonly claim: (identity: Identity, id: CustomerId, context: Context) => Promise<CustomerId>
  readonly isErased: (id: CustomerId) => Promise<boolean>
  readonly record: (organisation_id: OrganisationId, id: CustomerId) => Promise<Customer | undefined>
  readonly handle: (id: CustomerId, command: PersonCommand, context: Context) => Promise<readonly CustomerEvent[]>
}

export type ConsentGiven = NonNullable<Extract<PersonCommand, { type: 'SendCustomerIn' }>['consent']>
