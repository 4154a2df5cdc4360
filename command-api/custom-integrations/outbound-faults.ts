import type { Credential, IntegrationEndpoint, Outbound } from '#domain/custom-integrations/events.ts'
import type { Fields } from '#domain/rejection.ts'
import { bodyKindOf, templateFault } from '#infra/template.ts'
import { notEncrypted } from '#domain/web-address.ts'

type AllowsHttp = (address: string) => boolean

/** Faults in the addresses and templates of an integration that we call, by input. */
export const outboundFaults = (outbound: Outbound | null, allowsHttp: AllowsHttp): Fields => {
  if (!outbound) return {}
  const { base_url, credential, endpoints } = outbound
  const faults = {
    base_url:
      addressFault(base_url, allowsHttp) ?? (URL.parse(base_url)?.search ? 'must have no part after ?' : undefined),
    ...(credential?.type === 'oauth2' && { 'credential.token_url': addressFault(credential.token_url, allowsHttp) }),
  }
  const ofEndpoints = endpoints.flatMap((endpoint, index) => {
    const isTaken = endpoints.findIndex(({ key }) => key === endpoint.key) !== index
    return Object.entries({ ...endpointFaults(endpoint, credential), ...(isTaken && { key: 'is taken' }) }).map(
      ([input, fault]) => [`endpoints[${index}].${input}`, fault] as const,
    )
  })
  return Object.fromEntries(
    [...Object.entries(faults), ...ofEndpoints].flatMap(([input, fault]) =>
      fault === undefined ? [] : [[`outbound.${input}`, fault] as const],
    ),
  )
}

const addressFault = (address: string, allowsHttp: AllowsHttp): string | undefined => {
  const url = URL.parse(address)
  if (!url || address !== address.trim()) return 'must be a whole address, such as https://example.com/api'
  if (url.protocol !== 'https:' && !allowsHttp(address)) return notEncrypted
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or a password'
  return address.includes('#') ? 'must not have a part after #' : undefined
}

/** Headers that HTTP, the delivery or the credential itself sets. */
const reservedHeaders = [
  'connection',
  'content-length',
  'expect',
  'host',
  'idempotency-key',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

const endpointFaults = (
  { path, headers, body_template, method }: IntegrationEndpoint,
  credential: Credential | null,
): Fields => {
  const faults: Record<string, string> = {}
  const own = credential?.type === 'api_key' ? credential.header.toLowerCase() : 'authorization'
  for (const [name, value] of Object.entries(headers)) {
    const isReserved = reservedHeaders.includes(name.toLowerCase()) || name.toLowerCase() === own
    const fault = isReserved ? 'is set by the service' : (controlFault(value) ?? templateFault('header', value))
    if (fault !== undefined) faults[`headers.${name}`] = fault
  }
  if (path !== '' && !path.startsWith('/')) faults['path'] = 'must begin with /'
  const inPath = controlFault(path) ?? templateFault('path', path)
  if (inPath !== undefined) faults['path'] = inPath
  if (body_template !== null && (method === 'GET' || method === 'DELETE'))
    faults['body_template'] = `has no place in a ${method}`
  const inBody = body_template === null ? undefined : templateFault(bodyKindOf(headers), body_template)
  if (inBody !== undefined) faults['body_template'] = inBody
  return faults
}

const controlFault = (text: string): string | undefined =>
  /\p{Cc}/u.test(text) ? 'must not hold control characters' : undefined
