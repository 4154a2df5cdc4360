import { LRUCache } from 'lru-cache'
import { customer, type CustomerCommand } from '#domain/customers/customer.ts'
import type { CustomerEvent, IdentityKind } from '#domain/customers/events.ts'
import { identity, type Claim } from '#domain/customers/identity.ts'
import { detailsOf, type Customer } from '#domain/customers/record.ts'
import { OwnError } from '#domain/own-error.ts'
import type { CustomerId, OrganisationId } from '#domain/values.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import { commandHandler, type Context, type Writer } from '../writing/handle.ts'

type PeopleDeps = { readonly writer: Writer; readonly digest: DataKeys['digest'] }

/** An email address or external id of an organisation, as it was tidied. */
export type Identity = {
  readonly organisation_id: OrganisationId
  readonly kind: IdentityKind
  readonly value: string
}

/** An entry is two short ids. */
const identitiesRemembered = 10_000

/**
 * The people of all organisations. An identity may be claimed before its person has a record, and stay so if the process
 * ends in between: the record is then made when the person is saved next.
 */
export const makePeople = ({ writer, digest }: PeopleDeps) => {
  const identities = commandHandler(writer, identity)
  const customers = commandHandler(writer, customer)
  /** The owner of an email address never changes, unless the person is erased: then all is forgotten. */
  const claimed = new LRUCache<string, CustomerId>({ max: identitiesRemembered })
  writer.onForget(() => claimed.clear())

  const idOf = async ({ organisation_id, kind, value }: Identity): Promise<string> =>
    (await digest(organisation_id, 'identity', JSON.stringify([kind, value]))).toString('hex')

  const isErased = async (id: CustomerId): Promise<boolean> => {
    const [first] = await writer.log.read(customers.streamOf(id), { limit: 1 })
    return first?.erased ?? false
  }

  return {
    /** The person whose identity it is; of one who was erased it is no more. */
    find: async (wanted: Identity): Promise<CustomerId | undefined> => {
      const id = await idOf(wanted)
      const remembered = claimed.get(id)
      if (remembered) return remembered
      const known = (await identities.load(id))?.customer_id
      if (!known || (await isErased(known))) return undefined
      if (wanted.kind === 'email') claimed.set(id, known)
      return known
    },

    isErased,

    /**
     * Assigns the identity to a person, unless it is another's already, from whom it was not taken away. Returns the person
     * who has it.
     */
    claim: async (
      wanted: Identity,
      customer_id: CustomerId,
      context: Context,
      isTakenAway?: (from: Claim) => Promise<boolean>,
    ): Promise<CustomerId> => {
      const id = await idOf(wanted)
      const { organisation_id, kind } = wanted
      const claim = { type: 'ClaimIdentity', organisation_id, kind, customer_id } as const
      let { state } = await identities.handle(id, claim, context)
      const former = state
      const isOfErased = async (by: CustomerId) => by !== customer_id && !claimed.has(id) && (await isErased(by))
      // Whoever gets back what was taken away from them claims it again, too: else another would take it from them meanwhile.
      if (former && ((await isOfErased(former.customer_id)) || ((await isTakenAway?.(former)) ?? false)))
        ({ state } = await identities.handle(id, { ...claim, former }, context))
      if (!state) throw new OwnError(`Identity ${id} was not claimed.`)
      if (kind === 'email') claimed.set(id, state.customer_id)
      return state.customer_id
    },

    /** The stream of a person's own record. */
    stream: customers.streamOf,

    handle: async (id: CustomerId, command: CustomerCommand, context: Context): Promise<readonly CustomerEvent[]> =>
      (await customers.handle(id, command, context)).events,

    /** A person's own record; undefined when there is none, or it is another organisation's. */
    record: async (organisation_id: OrganisationId, id: CustomerId): Promise<Customer | undefined> => {
      const record = await customers.load(id)
      return record?.organisation_id === organisation_id ? record : undefined
    },

    /** The details in a person's own record. */
    known: async (id: CustomerId) => {
      const record = await customers.load(id)
      return record && { known: detailsOf(record), known_at: record.updated_at }
    },
  }
}
