import type { IntegrationEndpoint, Outbound } from '#domain/custom-integrations/events.ts'
import { OwnError } from '#domain/own-error.ts'
import type { MadeRequest } from '../capability.ts'
import type { Filled } from './fill.ts'

type Headers = Readonly<Record<string, string>>

type Call = {
  readonly outbound: Pick<Outbound, 'base_url'>
  readonly endpoint: Pick<IntegrationEndpoint, 'method' | 'path'>
  readonly filled: Filled
  readonly idempotency_key: string
  /** Says who we are. */
  readonly credential: Headers
}

/** The request that an endpoint of an integration asks for. */
export const integrationRequest = ({ outbound, endpoint, filled, idempotency_key, credential }: Call): MadeRequest => {
  const { path, headers, body } = filled
  const ours = { 'Idempotency-Key': idempotency_key, ...credential }
  const reserved = new Set(Object.keys(ours).map((name) => name.toLowerCase()))
  const own = Object.entries(headers).filter(([name]) => !reserved.has(name.toLowerCase()))
  const hasType = own.some(([name]) => name.toLowerCase() === 'content-type')
  return {
    method: endpoint.method,
    url: addressOf(outbound.base_url, path),
    kept_url: outbound.base_url.replace(/\/$/, '') + endpoint.path,
    headers: {
      ...(body !== undefined && !hasType && { 'Content-Type': 'application/json' }),
      ...Object.fromEntries(own),
      ...ours,
    },
    ...(body !== undefined && { body }),
  }
}

/** Below the base address, whatever was filled in: neither the host nor the part of the path that the firm has set changes. */
const addressOf = (base_url: string, path: string): string => {
  const base = base_url.replace(/\/$/, '')
  const url = URL.parse(base + path)
  const isDotted = /[/\\](\.|%2e){1,2}([/\\?#]|$)/i.test(path)
  const isBelow = (path === '' || path.startsWith('/')) && url?.href.startsWith(new URL(base).href.replace(/\/$/, ''))
  if (!url || isDotted || !isBelow || url.origin !== new URL(base).origin)
    throw new OwnError('The path of the endpoint leads out of the base address of its integration.')
  return url.href
}
