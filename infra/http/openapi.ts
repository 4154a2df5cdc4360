import { z } from 'zod'
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi'
import { statusOf } from './problem.ts'
import type { RouteSpec } from './route.ts'

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

const commonErrors = {
  application: ['invalid_token', 'forbidden', 'rate_limited'],
  operator: ['invalid_token', 'rate_limited'],
  public: ['rate_limited'],
} as const

const errorAnswers = ({ access, errors = [], path, query, body }: RouteSpec) => {
  const fromSchemas = [path && 'not_found', query && 'invalid_parameter', body && 'validation_failed'] as const
  const codes = new Set([...commonErrors[access.kind], ...fromSchemas.filter((code) => code !== undefined), ...errors])
  const byStatus = Map.groupBy(codes, (code) => statusOf[code])
  return [...byStatus]
    .toSorted(([one], [other]) => one - other)
    .map(([status, those]) => [String(status), { description: those.join(', '), ...json(ApiError) }] as const)
}

const security = ({ access }: RouteSpec): ZodOpenApiOperationObject['security'] => {
  if (access.kind === 'public') return []
  return access.kind === 'operator' ? [{ operator: [] }] : access.scopes.map((scopes) => ({ oauth: [...scopes] }))
}

const describeAccess = ({ access }: RouteSpec): string => {
  if (access.kind === 'public') return 'Needs no token.'
  if (access.kind === 'operator') return 'Needs the operator key.'
  const scopes = access.scopes.map((alternative) => alternative.map((scope) => `\`${scope}\``).join(' + ')).join(' or ')
  return `Scope ${scopes}${access.serverOnly ? '; server-only applications' : ''}.`
}

const operation = (spec: RouteSpec): ZodOpenApiOperationObject => ({
  tags: [spec.tag],
  summary: spec.summary,
  description: describeAccess(spec),
  operationId: `${spec.method}${spec.address.replaceAll(/[^a-z0-9]+([a-z0-9])/gi, (_match, letter: string) => letter.toUpperCase())}`,
  security: security(spec) ?? [],
  requestParams: {
    ...(spec.path instanceof z.ZodObject && { path: spec.path }),
    ...(spec.query instanceof z.ZodObject && { query: spec.query }),
    ...(spec.headers && { header: headersOf(spec.headers) }),
  },
  ...(spec.body && { requestBody: json(spec.body) }),
  responses: Object.fromEntries([
    ...Object.entries(spec.answers).map(
      ([status, schema]) => [status, { description: 'Done.', ...json(schema) }] as const,
    ),
    ...errorAnswers(spec),
  ]),
})

const headersOf = (headers: Readonly<Record<string, string>>) =>
  z.object(
    Object.fromEntries(
      Object.entries(headers).map(([name, meaning]) => [name, z.string().optional().describe(meaning)]),
    ),
  )

const tokenOperation: ZodOpenApiOperationObject = {
  tags: ['Access'],
  summary: 'Get an access token (OAuth 2.0 client credentials)',
  security: [],
  requestBody: { content: { 'application/x-www-form-urlencoded': { schema: TokenRequest } } },
  responses: {
    200: { description: 'A token for two hours. Cache it.', ...json(TokenAnswer) },
    400: { description: 'invalid_target, invalid_scope, invalid_request, unsupported_grant_type', ...json(TokenError) },
    401: { description: 'invalid_client', ...json(TokenError) },
    429: { description: 'Too many requests: see X-RateLimit-Reset.', ...json(TokenError) },
  },
}

/** The OpenAPI 3.1 document of these routes and of the token endpoint, made from the schemas that are in use. */
export const openApiDocument = (specs: readonly RouteSpec[]) => {
  const paths: ZodOpenApiPathsObject = { '/oauth/token': { post: tokenOperation } }
  for (const spec of specs) {
    const address = spec.address.replaceAll(/:(\w+)/g, '{$1}')
    paths[address] = { ...paths[address], [spec.method]: operation(spec) }
  }
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Coverstream',
      version: '1',
      description:
        'An insurance quoting, sales and CRM service. Money is whole pence; times are ISO 8601; every answer carries X-Request-Id.',
    },
    servers: [{ url: '/' }],
    paths,
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
        operator: { type: 'http', scheme: 'bearer', description: 'The operator key.' },
      },
    },
  })
}
