import type { IntegrationEndpoint, Outbound } from '#domain/custom-integrations/events.ts'
import type { Json } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import type { OutboundRequest } from '#infra/guarded-http.ts'
import { bodyKindOf, renderTemplate } from '#infra/template.ts'

type Headers = Readonly<Record<string, string>>

type Call = {
  readonly outbound: Pick<Outbound, 'base_url'>
  readonly endpoint: IntegrationEndpoint
  /** What a webhook of the same event would hold. */
  readonly envelope: Json
  readonly idempotency_key: string
  /** Says who we are. */
  readonly credential: Headers
}

const longestHeader = 4_000

/** The request that an endpoint of an integration asks for. Variables fill the places that its templates give them. */
export const integrationRequest = (call: Call): OutboundRequest => {
  const { outbound, endpoint, envelope, idempotency_key, credential } = call
  const body = bodyOf(endpoint, envelope)
  const ours = { 'Idempotency-Key': idempotency_key, ...credential }
  const reserved = new Set(Object.keys(ours).map((name) => name.toLowerCase()))
  const own = Object.entries(endpoint.headers)
    .filter(([name]) => !reserved.has(name.toLowerCase()))
    .map(([name, value]) => [name, headerValue(value, envelope)] as const)
  const hasType = own.some(([name]) => name.toLowerCase() === 'content-type')
  return {
    method: endpoint.method,
    url: addressOf(outbound.base_url, renderTemplate('path', endpoint.path, envelope)),
    headers: {
      ...(body !== undefined && !hasType && { 'Content-Type': 'application/json' }),
      ...Object.fromEntries(own),
      ...ours,
    },
    ...(body !== undefined && { body }),
  }
}

/** Below the base address, whatever was rendered: neither the host nor the part of the path that the firm has set changes. */
const addressOf = (base_url: string, path: string): string => {
  const base = base_url.replace(/\/$/, '')
  const url = URL.parse(base + path)
  const isDotted = /[/\\](\.|%2e){1,2}([/\\?#]|$)/i.test(path)
  const isBelow = (path === '' || path.startsWith('/')) && url?.href.startsWith(new URL(base).href.replace(/\/$/, ''))
  if (!url || isDotted || !isBelow || url.origin !== new URL(base).origin)
    throw new OwnError('The path of the endpoint leads out of the base address of its integration.')
  return url.href
}

/** One line, in bytes that a header can hold. */
const headerValue = (template: string, envelope: Json): string => {
  const line = renderTemplate('header', template, envelope).replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
  return Buffer.from(line.trim().slice(0, longestHeader), 'utf8').toString('latin1')
}

const bodyOf = ({ method, headers, body_template }: IntegrationEndpoint, envelope: Json): string | undefined => {
  if (method === 'GET' || method === 'DELETE') return undefined
  const kind = bodyKindOf(headers)
  if (body_template === null) return kind === 'json' ? JSON.stringify(envelope) : undefined
  const body = renderTemplate(kind, body_template, envelope)
  if (kind === 'json' && !isJson(body)) throw new OwnError('The body template of the endpoint made no JSON.')
  return body
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
