import { z } from 'zod'
import {
  createDocument,
  type CreateDocumentOptions,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi'
import { countedUnknownKeys } from './unknown-keys.ts'
import { statusOf } from './problem.ts'
import type { RouteSpec } from './route.ts'
import { namedRoles } from './team.ts'

const ApiError = z
  .object({
    error: z.object({
      code: z.string().describe('What is wrong; each code means one thing wherever it appears.'),
      message: z.string().describe('What to do.'),
      fields: z
        .record(z.string(), z.string())
        .optional()
        .describe('Input names and what is wrong with them, when the error concerns particular inputs.'),
    }),
  })
  .meta({ id: 'Error' })

const TokenRequest = z.object({
  grant_type: z.literal('client_credentials'),
  client_id: z.string().optional().describe('Unless sent with HTTP Basic.'),
  client_secret: z.string().optional(),
  scope: z.string().describe('Space-separated, a subset of the application’s scopes.'),
  resource: z.url().describe('Exactly {base_url}/api/v1.'),
})

const TokenAnswer = z
  .object({
    access_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.int().describe('Seconds: 7200.'),
    scope: z.string(),
    created_at: z.int().describe('Seconds since 1970.'),
  })
  .meta({ id: 'Token' })

const TokenError = z.object({ error: z.string(), error_description: z.string() }).meta({ id: 'TokenError' })

const json = (schema: z.ZodType) => ({ content: { 'application/json': { schema } } })

const files = (types: readonly string[]) => ({
  content: Object.fromEntries(
    types.map((type) => [type, { schema: { type: 'string' as const, format: 'binary' } }] as const),
  ),
})

const successAnswers = ({
  answers,
  fileTypes,
  alsoAs,
  streams,
}: RouteSpec): readonly (readonly [status: string, answer: ZodOpenApiResponseObject])[] =>
  Object.entries(answers).map(([status, schema]) => [
    status,
    { description: 'Done.', ...contentOf(schema, fileTypes, alsoAs, streams) },
  ])

const eventStream = {
  'text/event-stream': {
    schema: {
      type: 'string' as const,
      description:
        'Server-sent events: `data` of each is the body of the JSON answer as it is then; `id` is for Last-Event-ID.',
    },
  },
}

const contentOf = (
  schema: z.ZodType,
  fileTypes: RouteSpec['fileTypes'],
  alsoAs: RouteSpec['alsoAs'],
  streams: RouteSpec['streams'],
) => {
  if (fileTypes) return files(fileTypes)
  if (streams) return { content: { ...json(schema).content, ...eventStream } }
  return alsoAs === undefined ? json(schema) : { content: { ...json(schema).content, ...files([alsoAs]).content } }
}

const commonErrors = ({ access }: RouteSpec) => {
  const always = ['rate_limited', 'unavailable'] as const
  return access.kind === 'public' ? always : (['invalid_token', 'forbidden', ...always] as const)
}

const errorAnswers = (spec: RouteSpec) => {
  const { errors = [], access, path, query, body, headers = {} } = spec
  const namesOrganisation = access.kind === 'team' && query instanceof z.ZodObject && 'organisation_id' in query.shape
  const hasId = path !== undefined || namesOrganisation
  const canBeUnfit = body !== undefined || 'Idempotency-Key' in headers
  const fromSchemas = [hasId && 'not_found', query && 'invalid_parameter', canBeUnfit && 'validation_failed'] as const
  const codes = new Set([
    ...commonErrors(spec),
    ...fromSchemas.filter((code) => code !== undefined && code !== false),
    ...errors,
  ])
  const byStatus = Map.groupBy(codes, (code) => statusOf[code])
  return [...byStatus]
    .toSorted(([one], [other]) => one - other)
    .map(([status, those]) => [String(status), { description: those.join(', '), ...json(ApiError) }] as const)
}

const security = ({ access }: RouteSpec): ZodOpenApiOperationObject['security'] => {
  if (access.kind === 'public' || access.kind === 'session') return []
  return access.kind === 'team' ? [{ operator: [] }] : access.scopes.map((scopes) => ({ oauth: [...scopes] }))
}

const describeAccess = ({ access, method }: RouteSpec): string => {
  if (access.kind === 'public') return 'Needs no token.'
  if (access.kind === 'session') return 'For the pages of the service itself (docs/users.md): needs no token.'
  if (access.kind === 'team') return `Needs a key of the team: ${namedRoles({ access, method })}.`
  const scopes = access.scopes.map((alternative) => alternative.map((scope) => `\`${scope}\``).join(' + ')).join(' or ')
  return `Scope ${scopes}${access.serverOnly ? '; server-only applications' : ''}.`
}

const singular = (plural: string): string => plural.replace(/ies$/, 'y').replace(/s$/, '')

/** `GET /api/v1/applications/:id/quotes` → `getApplicationQuotes`: what a generated client calls the operation. */
export const operationIdOf = ({ method, address }: Pick<RouteSpec, 'method' | 'address'>): string => {
  const [, ...parts] = address.replace(/^\/(api|admin)\/v1|(?<=^\/audit)\/v1/, '').split('/')
  const names = parts.flatMap((part, index) => {
    if (part.startsWith(':')) return []
    return [parts[index + 1]?.startsWith(':') ? singular(part) : part]
  })
  const words = [method, ...names.join('_').split('_')]
  return words.map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1))).join('')
}

const shareTokenHeader = {
  'X-Share-Token': 'The share token of the application: browser applications must send it.',
}

const headersOf = ({ access, headers }: RouteSpec): Readonly<Record<string, string>> => ({
  ...(access.kind === 'application' && access.subject?.visibleTo === 'share_token_holder' && shareTokenHeader),
  ...headers,
})

/** A body that is left out counts as an empty object. */
const isRequired = (body: z.ZodType): boolean => !body.safeParse({}).success

/** A number in an address is a text, and in the document it is what the schema says. */
const typed = (schema: z.ZodType, example: unknown): unknown => {
  const { data } = schema.safeParse(example)
  return typeof data === 'number' || typeof data === 'boolean' ? data : example
}

/** With its examples, if the route gives any, since those are what an explorer fills in. */
const withExamples = (
  schema: z.ZodType | undefined,
  examples: Readonly<Record<string, unknown>> = {},
  param?: { readonly required: true },
) => {
  if (!(schema instanceof z.ZodObject)) return undefined
  const shape = Object.entries<z.ZodType>(schema.shape).map(([name, part]) => {
    const example = examples[name]
    const given = example === undefined ? {} : { example: typed(part, example) }
    return [name, part.meta({ ...part.meta(), ...given, ...(param && { param }) })] as const
  })
  return z.object(Object.fromEntries(shape))
}

const operation = (spec: RouteSpec): ZodOpenApiOperationObject => {
  const { example, body } = spec
  const path = withExamples(spec.path, example?.path, { required: true })
  const query = withExamples(spec.query, example?.query)
  const headers = Object.entries(headersOf(spec))
  return {
    tags: [spec.tag],
    summary: spec.summary,
    description: describeAccess(spec),
    operationId: operationIdOf(spec),
    security: security(spec) ?? [],
    requestParams: {
      ...(path && { path }),
      ...(query && { query }),
      ...(headers.length > 0 && { header: headerParameters(headers) }),
    },
    ...(body && {
      requestBody: {
        required: isRequired(body),
        content: { 'application/json': { schema: body, ...(example?.body && { example: example.body }) } },
      },
    }),
    ...(spec.textBody && {
      requestBody: { required: true, content: { [spec.textBody]: { schema: z.string().min(1) } } },
    }),
    responses: Object.fromEntries<ZodOpenApiResponseObject>([...successAnswers(spec), ...errorAnswers(spec)]),
  }
}

const headerParameters = (headers: readonly (readonly [name: string, meaning: string])[]) =>
  z.object(Object.fromEntries(headers.map(([name, meaning]) => [name, z.string().optional().describe(meaning)])))

const tokenOperation: ZodOpenApiOperationObject = {
  tags: ['Access'],
  summary: 'Get an access token (OAuth 2.0 client credentials)',
  description: 'The credentials go into the body or into HTTP Basic. Cache the token until shortly before it expires.',
  operationId: 'getToken',
  security: [],
  requestBody: { required: true, content: { 'application/x-www-form-urlencoded': { schema: TokenRequest } } },
  responses: {
    200: { description: 'A token for two hours. Cache it.', ...json(TokenAnswer) },
    400: { description: 'invalid_target, invalid_scope, invalid_request, unsupported_grant_type', ...json(TokenError) },
    401: { description: 'invalid_client', ...json(TokenError) },
    429: { description: 'Too many requests: see Retry-After and X-RateLimit-Reset.', ...json(TokenError) },
    503: { description: 'temporarily_unavailable: send the request again after Retry-After.', ...json(TokenError) },
  },
}

/** A request that is neither authenticated nor answered like all others. */
export type SignedSpec = {
  readonly address: string
  readonly operationId: string
  readonly tag: string
  readonly summary: string
  readonly description: string
  readonly path: z.ZodObject
  readonly headers: Readonly<Record<string, string>>
  readonly body: z.ZodType
  /** The meaning of each answer; all have empty bodies. */
  readonly answers: Readonly<Record<number, string>>
}

const signedOperation = (spec: SignedSpec): ZodOpenApiOperationObject => ({
  tags: [spec.tag],
  summary: spec.summary,
  description: spec.description,
  operationId: spec.operationId,
  security: [],
  requestParams: { path: spec.path, header: headerParameters(Object.entries(spec.headers)) },
  requestBody: { required: true, content: { 'application/json': { schema: spec.body } } },
  responses: Object.fromEntries(Object.entries(spec.answers).map(([status, description]) => [status, { description }])),
})

/** A request that the service sends to an address of the organisation's. */
export type WebhookSpec = {
  readonly name: string
  readonly summary: string
  readonly body: z.ZodType
  /** The headers that come with it, with their meaning. */
  readonly headers: Readonly<Record<string, string>>
}

const webhookOperation = ({ name, summary, body, headers }: WebhookSpec): ZodOpenApiOperationObject => ({
  tags: ['Webhooks'],
  summary,
  description: 'Sent to the address of an endpoint connection. See docs/webhooks.md for what receivers do.',
  operationId: `webhook${name}`,
  security: [],
  requestParams: { header: headerParameters(Object.entries(headers)) },
  requestBody: { required: true, content: { 'application/json': { schema: body } } },
  responses: {
    200: { description: 'Any 2xx within 15 seconds: it has arrived. The body is ignored.' },
    403: { description: 'The signature does not fit. It is not tried again.' },
    503: { description: '429, 5xx or no answer: it is tried again, five times in all within about six minutes.' },
  },
})

/** A text that may not be empty once it is trimmed holds something to be seen. */
const trimmedTexts: CreateDocumentOptions['override'] = ({ jsonSchema, zodSchema }) => {
  const isTrimmed = zodSchema._zod.def.checks?.some((check) => check._zod.def.check === 'overwrite')
  if (zodSchema instanceof z.ZodString && isTrimmed && jsonSchema.minLength && !jsonSchema.pattern)
    jsonSchema.pattern = String.raw`\S`
}

/** The bounds of whole numbers in JavaScript say nothing about a value, and samples would begin with them. */
const withoutSafeBounds: CreateDocumentOptions['override'] = ({ jsonSchema }) => {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}

/** Every object of a schema that names its keys and does not say whether it takes others takes none. */
const withoutOtherKeys = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(withoutOtherKeys)
  if (typeof schema !== 'object' || schema === null) return schema
  const parts = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, withoutOtherKeys(part)]))
  return parts['type'] === 'object' && 'properties' in parts ? { additionalProperties: false, ...parts } : parts
}

const refusesOtherKeys = ({ access, body }: RouteSpec): boolean =>
  (access.kind === 'team' || access.kind === 'session') &&
  body !== undefined &&
  countedUnknownKeys(body, { '': null }).count > 0

/** The OpenAPI 3.1 document of these routes and of the token endpoint, made from the schemas that are in use. */
export const openApiDocument = (
  specs: readonly RouteSpec[],
  webhooks: readonly WebhookSpec[] = [],
  signed: readonly SignedSpec[] = [],
  describedTags: Readonly<Record<string, string>> = {},
) => {
  const tags = [
    ...new Set(['Access', ...specs.map(({ tag }) => tag), ...(webhooks.length > 0 ? ['Webhooks'] : [])]),
  ].map((name) => ({ name, ...(describedTags[name] && { description: describedTags[name] }) }))
  const paths: ZodOpenApiPathsObject = { '/oauth/token': { post: tokenOperation } }
  for (const spec of specs) {
    const address = spec.address.replaceAll(/:(\w+)/g, '{$1}')
    paths[address] = { ...paths[address], [spec.method]: operation(spec) }
  }
  for (const spec of signed) paths[spec.address] = { post: signedOperation(spec) }
  const made = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Coverstream',
        version: '1',
        contact: { name: 'The operator of this service' },
        license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
        description:
          'An insurance quoting, sales and CRM service. Money is whole pence; times are ISO 8601; every answer carries X-Request-Id.',
      },
      servers: [{ url: '/' }],
      tags,
      paths,
      webhooks: Object.fromEntries(webhooks.map((each) => [each.name, { post: webhookOperation(each) }])),
      components: {
        securitySchemes: {
          oauth: {
            type: 'oauth2',
            flows: {
              clientCredentials: {
                tokenUrl: '/oauth/token',
                scopes: {
                  read: 'Reads.',
                  write: 'Anything that changes something, and reads.',
                  crm: 'Leads and outcomes of leads that this application sent; server-only applications.',
                  outcomes: 'Outcomes of any lead of the organisation; server-only applications.',
                },
              },
            },
          },
          operator: {
            type: 'http',
            scheme: 'bearer',
            description: 'A key of the team: of a user, or of the operator.',
          },
        },
      },
    },
    {
      override: (rendered) => {
        trimmedTexts(rendered)
        withoutSafeBounds(rendered)
      },
    },
  )
  for (const { address, method } of specs.filter(refusesOtherKeys)) {
    const body = made.paths?.[address.replaceAll(/:(\w+)/g, '{$1}')]?.[method]?.requestBody
    const sent = body && 'content' in body ? body.content['application/json'] : undefined
    if (sent?.schema) sent.schema = withoutOtherKeys(sent.schema) as typeof sent.schema
  }
  return made
}
