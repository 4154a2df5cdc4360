import type { RouteSpec } from './route.ts'

const admin = '/admin/v1/'
const ofOrganisation = `${admin}organisations/:organisation_id/`

const listsBelow = (addresses: readonly string[], prefix: string): readonly string[] => {
  const lists = addresses
    .filter((address) => address.startsWith(prefix))
    .map((address) => address.slice(prefix.length).split('/', 1)[0] ?? '')
  return [...new Set(lists)].filter((list) => list !== 'organisations').toSorted()
}

/**
 * The addresses that go to query-api when they are read, the pages of the console among them, as an expression of the reverse proxy; all else goes to command-api.
 * `npm run proxy` writes it to deploy/nginx.conf.
 */
export const readAddressesOf = (
  routes: readonly { readonly spec: Pick<RouteSpec, 'method' | 'address'> }[],
): string => {
  const addresses = routes.flatMap(({ spec }) => (spec.method === 'get' ? [spec.address] : []))
  const lists = listsBelow(addresses, admin).join('|')
  const below = listsBelow(addresses, ofOrganisation).join('|')
  // Of /admin/v1, command-api answers some reads itself.
  return `/(api/v1|audit/v1|console|admin/v1/(${lists}|organisations/[^/]+/(${below})))(/|$)`
}

export type IsRead = (method: string | undefined, url: string | undefined) => boolean

export const isReadOf = (readAddresses: string): IsRead => {
  const addresses = new RegExp(`^${readAddresses}`)
  return (method, url) => (method === 'GET' || method === 'HEAD') && addresses.test((url ?? '').split('?', 1)[0] ?? '')
}
