import { expect, test } from 'vitest'
import { z } from 'zod'
import { messageNewsSpec } from '../command-api/message-news/report-spec.ts'
import { inboundSpec } from '../command-api/custom-integrations/inbound-spec.ts'
import { allRoutes, currentDocument } from '../scripts/openapi.ts'

type Operation = {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description: string
  readonly requestBody?: {
    readonly required: boolean
    readonly content: Readonly<Record<string, { readonly schema: unknown }>>
  }
  readonly parameters?: readonly Parameter[]
  readonly responses: Readonly<Record<string, { readonly description: string }>>
}

type Document = {
  readonly tags: readonly { readonly name: string; readonly description?: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

const document = JSON.parse(currentDocument()) as Document
const operations = Object.entries(document.paths).flatMap(([address, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ ...operation, method, address })),
)
const specs = allRoutes().map(({ spec }) => spec)

const valuesOf = (key: string, within: unknown): readonly unknown[] => {
  if (Array.isArray(within)) return within.flatMap((each) => valuesOf(key, each))
  if (typeof within !== 'object' || within === null) return []
  return Object.entries(within).flatMap(([name, value]) => [
    ...(name === key && typeof value === 'string' ? [value] : []),
    ...valuesOf(key, value),
  ])
}

type Parameter = {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema: { readonly type?: string; readonly example?: unknown; readonly minLength?: number }
}
const bodyOf = (operation: Operation | undefined): unknown =>
  operation?.requestBody?.content['application/json']?.schema
const allParameters = () => operations.flatMap(({ parameters = [] }) => parameters)

test('the router and the OpenAPI document name the same operations', () => {
  const served = specs.map(({ method, address }) => `${method} ${address.replaceAll(/:(\w+)/g, '{$1}')}`)

  expect(operations.map(({ method, address }) => `${method} ${address}`).toSorted()).toEqual(
    [
      ...served,
      'post /oauth/token',
      ...[inboundSpec, messageNewsSpec].map(({ address }) => `post ${address}`),
    ].toSorted(),
  )
})

test('every operation has an id of its own, a summary, a description and a tag that is defined', () => {
  const tags = document.tags.map(({ name }) => name)

  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length)
  for (const { operationId, summary, description, tags: own } of operations) {
    expect(operationId).toMatch(/^[a-z]+([A-Z][a-z0-9]*)*$/)
    expect([summary, description]).not.toContain('')
    expect(tags).toEqual(expect.arrayContaining([...own]))
  }
})

test('the ids of operations do not change from release to release', () => {
  const idOf = (method: string, address: string) =>
    operations.find((operation) => operation.method === method && operation.address === address)?.operationId

  expect(idOf('post', '/oauth/token')).toBe('getToken')
  expect(idOf('get', '/api/v1/products/{product_slug}/journeys/{slug}/questions')).toBe('getProductJourneyQuestions')
  expect(idOf('post', '/api/v1/applications')).toBe('postApplications')
  expect(idOf('get', '/api/v1/applications/{id}')).toBe('getApplication')
  expect(idOf('get', '/admin/v1/deliveries/{id}')).toBe('getDelivery')
})

test('a whole number without bounds has none: samples do not begin with -9007199254740991', () => {
  expect(currentDocument()).not.toContain('9007199254740991')
})

test('a body is required exactly where a request without one is refused', () => {
  const requiredOf = ({ method, address }: { method: string; address: string }) =>
    document.paths[address.replaceAll(/:(\w+)/g, '{$1}')]?.[method]?.requestBody?.required
  const requiredBy = ({ body, textBody }: (typeof specs)[number]) =>
    textBody === undefined ? body && !body.safeParse({}).success : true
  const wrong = specs.filter((spec) => requiredOf(spec) !== requiredBy(spec))

  expect(wrong).toEqual([])
})

test('every pattern is one that the regular expressions of other languages know', () => {
  const patterns = valuesOf('pattern', document)

  expect(patterns.length).toBeGreaterThan(0)
  // Unicode classes, look-around and named groups differ from language to language.
  expect(patterns.filter((pattern) => /\\p\{|\(\?[=!<]/i.test(String(pattern)))).toEqual([])
})

test('every example fits the schema of its operation', () => {
  const examples = specs.flatMap(({ method, address, path, query, body, example }) =>
    [
      { schema: path, value: example?.path },
      { schema: query, value: example?.query },
      { schema: body, value: example?.body },
    ].flatMap(({ schema, value }) => (schema && value ? [{ operation: `${method} ${address}`, schema, value }] : [])),
  )

  expect(examples.length).toBeGreaterThan(0)
  expect(examples.filter(({ schema, value }) => !schema.safeParse(value).success)).toEqual([])
})

test('every tag has a description', () => {
  expect(document.tags.filter(({ description }) => !description)).toEqual([])
})

test('the example of a parameter has the type that its schema says', () => {
  const examples = allParameters().filter(({ schema }) => schema.example !== undefined)
  const isOfType = ({ schema: { type, example } }: Parameter) =>
    type === 'integer' ? Number.isInteger(example) : type === undefined || typeof example === type

  expect(examples.length).toBeGreaterThan(0)
  expect(examples.filter((each) => !isOfType(each))).toEqual([])
})

test('every parameter of a path is required, as OpenAPI asks', () => {
  const ofPaths = allParameters().filter((parameter) => parameter.in === 'path')

  expect(ofPaths.length).toBeGreaterThan(0)
  expect(ofPaths.filter(({ required }) => required !== true)).toEqual([])
})

test.each([
  ['/api/v1/customers/validate_phone', 'phone'],
  ['/api/v1/addresses/lookup', 'postcode'],
])('%s: query parameter %s is required', (address, wanted) => {
  const parameters = document.paths[address]?.['get']?.parameters

  expect(parameters?.filter(({ required }) => required === true).map(({ name }) => name)).toEqual([wanted])
})

const customerOf = (address: string) =>
  z
    .looseObject({
      properties: z.looseObject({ customer: z.looseObject({ properties: z.record(z.string(), z.unknown()) }) }),
    })
    .parse(bodyOf(document.paths[address]?.['patch'])).properties.customer

test('a detail of a customer that is null is as if it had not been sent, and so the document says', () => {
  for (const address of ['/api/v1/applications/{id}/customer', '/api/v1/applications/{id}/soft_customer'])
    for (const [name, detail] of Object.entries(customerOf(address).properties))
      expect([
        name,
        z.fromJSONSchema(detail as Parameters<typeof z.fromJSONSchema>[0]).safeParse(null).success,
      ]).toEqual([name, true])
})

test('provenance is never refused, and so the document says', () => {
  for (const [address, method] of [
    ['/api/v1/applications', 'post'],
    ['/api/v1/applications/{id}', 'patch'],
    ['/api/v1/applications/{id}/customer', 'patch'],
    ['/api/v1/crm/ingests', 'post'],
  ] as const) {
    const { properties } = z
      .looseObject({ properties: z.looseObject({ provenance: z.looseObject({}) }) })
      .parse(bodyOf(document.paths[address]?.[method]))
    expect(properties.provenance).not.toHaveProperty('type')
    expect(properties.provenance).toHaveProperty('properties.page_url')
  }
})

test('an outreach_landing is never refused, and so the document says', () => {
  const { properties } = z
    .looseObject({ properties: z.looseObject({ outreach_landing: z.looseObject({}) }) })
    .parse(bodyOf(document.paths['/api/v1/applications']?.['post']))
  expect(properties.outreach_landing).not.toHaveProperty('type')
})

test('a key that an act of the operator does not know is refused, and so the document says', () => {
  const open = operations
    .filter(({ address, requestBody }) => address.startsWith('/admin/') && requestBody?.content['application/json'])
    .filter((operation) => !/"additionalProperties":|"\$ref":/.test(JSON.stringify(bodyOf(operation))))
  expect(open.map(({ operationId }) => operationId)).toEqual([])
})

test('an empty cursor, which no list has given, fits no list', () => {
  const cursors = allParameters().filter(({ name, schema }) => name === 'cursor' && schema.type === 'string')

  expect(cursors.length).toBeGreaterThan(0)
  expect(cursors.filter(({ schema }) => schema.minLength !== 1)).toEqual([])
})

test('an operation that takes an Idempotency-Key says that it refuses one that cannot be used', () => {
  const keyed = operations.filter(({ parameters = [] }) => parameters.some(({ name }) => name === 'Idempotency-Key'))

  expect(keyed.map(({ operationId }) => operationId)).toContain('postQuotePaymentIntent')
  for (const { responses } of keyed) expect(responses['422']?.description).toContain('validation_failed')
})

test('an act of the operator that takes an Idempotency-Key says that it refuses the key with other content', () => {
  const keyed = operations.filter(
    ({ address, parameters = [] }) =>
      address.startsWith('/admin/v1/') && parameters.some(({ name }) => name === 'Idempotency-Key'),
  )

  expect(keyed.map(({ operationId }) => operationId).toSorted()).toEqual([
    'postOrganisationApiApplications',
    'postOrganisationComplaintNotes',
    'postOrganisationComplaintRedress',
    'postOrganisationComplaints',
    'postOrganisationDeliveryRecoveries',
    'postOrganisationPeopleLegalHolds',
    'postOrganisationPolicyClaims',
    'postOrganisationPolicyPremiumRefund',
  ])
  for (const { responses } of keyed) expect(responses['409']?.description).toContain('idempotency_key_conflict')
})

test('every webhook is described with its headers and its body', () => {
  const { webhooks } = JSON.parse(currentDocument()) as {
    readonly webhooks: Readonly<
      Record<
        string,
        { readonly post: { readonly requestBody: object; readonly parameters: readonly { name: string }[] } }
      >
    >
  }

  expect(Object.keys(webhooks)).toEqual(['Lifecycle', 'Lead', 'Ping'])
  for (const { post } of Object.values(webhooks)) {
    expect(post.requestBody).toMatchObject({ required: true })
    expect(post.parameters.map(({ name }) => name)).toEqual([
      'Idempotency-Key',
      'X-Service-Signature',
      'X-Service-Sequence',
    ])
  }
})
