import { LRUCache } from 'lru-cache'
import { parse } from 'postcode'
import type { OpenAccount } from '#domain/provider-accounts/record.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { OpenedAccount } from '#infra/ask-json.ts'
import { approximateBytes } from '#infra/size.ts'
import type { BoundedCalls } from '#infra/bounded-calls.ts'

type Address = {
  readonly address_line1: string
  readonly address_line2: string
  readonly city: string
  readonly postal_code: string
  readonly country: string
}

/** Undefined when the provider could not be asked; none when it does not know the postcode. */
export type FindAddresses = (account: OpenedAccount, postcode: string) => Promise<readonly Address[] | undefined>

/** In the order in which they are asked. */
export type AddressProviders = Readonly<Record<'ideal_postcodes' | 'os_places', FindAddresses>>

type Deps = { readonly openAccount: OpenAccount; readonly providers: AddressProviders; readonly calls: BoundedCalls }

const cacheBytes = 16 * 2 ** 20
const dayMs = 86_400_000
const knownForMs = 30 * dayMs
const unknownForMs = dayMs

/** Finds the addresses at a postcode; none when the postcode is none, is not known, or nobody can be asked. */
export const makeAddressLookup = ({ openAccount, providers, calls }: Deps) => {
  // Of each organisation by itself: what one has paid for is not another's.
  const cache = new LRUCache<string, readonly Address[]>({
    maxSize: cacheBytes,
    sizeCalculation: (addresses) => approximateBytes(addresses),
  })

  const ask = async (organisation_id: OrganisationId, postcode: string): Promise<readonly Address[] | undefined> => {
    for (const provider of ['ideal_postcodes', 'os_places'] as const) {
      const account = openAccount(organisation_id, provider)
      const found = account && (await calls(organisation_id, () => providers[provider](account, postcode)))
      if (found) return found
    }
    return undefined
  }

  return async (organisation_id: OrganisationId, sent: string): Promise<readonly Address[]> => {
    const { valid, postcode } = parse(sent.trim())
    if (!valid) return []
    const key = `${organisation_id} ${postcode}`
    const known = cache.get(key)
    if (known) return known
    const found = await ask(organisation_id, postcode)
    if (!found) return []
    cache.set(key, found, { ttl: found.length > 0 ? knownForMs : unknownForMs })
    return found
  }
}
