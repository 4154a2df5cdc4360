import { isIP, type LookupFunction } from 'node:net'
import { callbackify } from 'node:util'
import { OwnError } from '#domain/own-error.ts'
import { isLocalName, lookUpName, lookUpOwnName, type Resolved } from './name-lookup.ts'
import { isPublicAddress, makeAllowList } from './public-address.ts'

export type Lookup = (host: string) => Promise<readonly Resolved[]>

/** The operator's allowance for destinations beyond the public internet. */
export type Allowance = {
  /** Hosts, host:port or CIDR blocks that may be reached although they are not public. */
  readonly allowedHosts: readonly string[]
  /** True where plain http, and mail without encryption, may be spoken with those hosts. */
  readonly allowHttp: boolean
}

export class AddressRefused extends OwnError {
  override readonly name = 'AddressRefused'
}

type Options = Pick<Allowance, 'allowedHosts'> & { readonly lookup?: Lookup | undefined }

/**
 * Addresses that a server named by an organisation may be reached at: the public internet's, and what the operator allows.
 * Connections go to the very addresses that were checked.
 */
export const makeAddressGuard = ({ allowedHosts, lookup }: Options) => {
  const allowList = makeAllowList(allowedHosts)

  return (host: string, port: number) => {
    const check = (address: string): void => {
      if (!isPublicAddress(address) && !allowList.reaches(host, port, address))
        throw new AddressRefused(`${host} is ${address === host ? '' : `${address}, `}not a public address`)
    }

    const lookUp =
      lookup ?? (isLocalName(host) || allowList.names(host, port) ? lookUpOwnName : (name) => lookUpName(name))
    let underway: Promise<readonly Resolved[]> | undefined
    /** Callers that wait for the name at the same time share one look-up. */
    const checkedAddresses = async (): Promise<Resolved[]> => {
      underway ??= lookUp(host).finally(() => (underway = undefined))
      const addresses = await underway
      if (addresses.length === 0) throw new Error(`${host} has no address`)
      for (const { address } of addresses) check(address)
      return [...addresses]
    }
    const guardedLookup = callbackify(checkedAddresses)
    const lookupAll: LookupFunction = (_host, _options, callback) => guardedLookup(callback)

    return {
      /** Throws when the host is an address that may not be reached: a literal is never looked up. */
      checkLiteral: (): void => {
        if (isIP(host) !== 0) check(host)
      },
      /** For sockets that ask for all addresses at once (`autoSelectFamily`). */
      lookup: lookupAll,
    }
  }
}

/** Returns whether a protocol without encryption may be spoken with an address: the operator allows its host. */
export const plainPermission = (
  { allowedHosts, allowHttp }: Allowance,
  protocol: 'http:' | 'smtp:',
): ((address: string) => boolean) => {
  const allowList = makeAllowList(allowedHosts)
  return (address) => {
    const url = URL.parse(address)
    return url?.protocol === protocol && allowHttp && allowList.names(url.hostname, portOf(url))
  }
}

const usualPorts: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80, 'smtps:': 465, 'smtp:': 587 }

export const portOf = ({ port, protocol }: URL): number => Number(port) || (usualPorts[protocol] ?? 443)
