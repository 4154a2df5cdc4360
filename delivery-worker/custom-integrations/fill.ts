import type { IntegrationEndpoint } from '#domain/custom-integrations/events.ts'
import type { Json } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import { bodyKindOf, isTemplate, renderTemplate, type TemplateKind } from '#infra/template.ts'

/** The parts of a request that an endpoint's templates make. */
export type Filled = {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

const longestHeader = 4_000
/** The time for all templates of an endpoint together. */
const withinMs = 250

/** True where there is anything to be filled in. */
export const hasTemplates = ({ path, headers, body_template }: IntegrationEndpoint): boolean =>
  [path, body_template ?? '', ...Object.values(headers)].some(isTemplate)

/** Fills what is known of an event into the templates of an endpoint. `envelope` is what a webhook would hold. */
export const fillEndpoint = (endpoint: IntegrationEndpoint, envelope: Json): Filled => {
  const endsAt = performance.now() + withinMs
  const fill = (kind: TemplateKind, template: string): string =>
    isTemplate(template) ? renderTemplate(kind, template, envelope, Math.max(0, endsAt - performance.now())) : template
  const headers = Object.entries(endpoint.headers).map(
    ([name, value]) => [name, headerValue(fill('header', value))] as const,
  )
  const body = bodyOf(endpoint, envelope, fill)
  return {
    path: fill('path', endpoint.path),
    headers: Object.fromEntries(headers),
    ...(body !== undefined && { body }),
  }
}

/** One line, in bytes that a header can hold. */
const headerValue = (text: string): string => {
  const line = text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
  return Buffer.from(line.trim().slice(0, longestHeader), 'utf8').toString('latin1')
}

const bodyOf = (
  { method, headers, body_template }: IntegrationEndpoint,
  envelope: Json,
  fill: (kind: TemplateKind, template: string) => string,
): string | undefined => {
  if (method === 'GET' || method === 'DELETE') return undefined
  const kind = bodyKindOf(headers)
  if (body_template === null) return kind === 'json' ? JSON.stringify(envelope) : undefined
  const body = fill(kind, body_template)
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
