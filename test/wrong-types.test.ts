import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { ApplicationId } from '#domain/values.ts'
import type { Route, RouteSpec } from '#infra/http/route.ts'
import { allRoutes } from '../scripts/openapi.ts'
import { serve, serverCaller } from './serve.ts'
import { wordsOfZod, wrongValues } from './wrong-values.ts'

type Shape = z.core.JSONSchema.BaseSchema

/** Values that have the form of the schema down to a depth, and there and at all ends something wrong. */
const misshapen = (schema: Shape | boolean, depth: number, value: unknown, definitions: Shape): readonly unknown[] => {
  if (typeof schema === 'boolean' || depth === 0) return [value]
  if (schema.$ref !== undefined) {
    const named = definitions.$defs?.[schema.$ref.split('/').at(-1) ?? '']
    return named ? misshapen(named, depth, value, definitions) : [value]
  }
  const forms = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  // Forms beside properties only say which of these belong together.
  if (forms.length > 0 && !schema.properties) return forms.flatMap((each) => misshapen(each, depth, value, definitions))
  if (schema.items && !Array.isArray(schema.items))
    return misshapen(schema.items, depth - 1, value, definitions).map((item) => [item])
  if (!schema.properties) return schema.const === undefined ? [value] : [schema.const]
  const filled = Object.entries(schema.properties).map(
    ([name, inner]) => [name, misshapen(inner, depth - 1, value, definitions)] as const,
  )
  if (filled.length === 0) return [value]
  const most = Math.max(0, ...filled.map(([, values]) => values.length))
  return Array.from({ length: most }, (_, index) =>
    Object.fromEntries(filled.map(([name, values]) => [name, values[index % values.length]])),
  )
}

const bodiesFor = ({ body }: RouteSpec): readonly unknown[] => {
  if (!body) return []
  const schema = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }) as Shape
  const depths = [1, 2, 3, 4, 5, 6, 7, 8]
  const bodies = depths.flatMap((depth) => wrongValues.flatMap((value) => misshapen(schema, depth, value, schema)))
  return [...new Set(bodies.map((each) => JSON.stringify(each)))].map((each): unknown => JSON.parse(each))
}

const queriesFor = ({ query }: RouteSpec): readonly string[] => {
  if (!(query instanceof z.ZodObject)) return []
  return ['', 'x', '-1', '1.5', '1e15', 'x'.repeat(3_000)].map(
    (value) =>
      `?${Object.keys(query.shape)
        .map((name) => `${name}=${value}`)
        .join('&')}`,
  )
}

const parameterOf = ({ path }: RouteSpec, name: string): string => {
  const schema: unknown = path instanceof z.ZodObject ? path.shape[name] : undefined
  if (schema instanceof z.ZodEnum) return String(schema.options[0])
  return name.endsWith('id') ? '0d9e8c7b-6a5f-4e3d-9c2b-1a0f9e8d7c6b' : 'x'
}

// Whether there is something at an address is not the question here.
const routes = allRoutes().map((each): Route => ({ ...each, onUnfitBody: async () => undefined }))
const owner = async () => ({ application_id: ApplicationId.parse('0d9e8c7b-6a5f-4e3d-9c2b-1a0f9e8d7c6b') })
/** Nothing of what is sent gets as far as a handler, so one does for all. */
const api = await serve(routes, serverCaller(), { owners: { quote: owner } })
afterAll(() => api[Symbol.asyncDispose]())

const specs = routes
  .map(({ spec }) => spec)
  // What people open from a message answers with a page.
  .filter(({ fileTypes, body, query }) => !fileTypes?.includes('text/html') && (body ?? query))

test.each(specs.map((spec) => ({ name: `${spec.method} ${spec.address}`, spec })))(
  '$name refuses what does not fit in words of ours',
  async ({ spec }) => {
    const address = spec.address.replaceAll(/:(\w+)/g, (_, name: string) => parameterOf(spec, name))
    const requests = [
      ...queriesFor(spec).map((query) => ({ address: address + query, body: undefined })),
      ...bodiesFor(spec).map((body) => ({ address, body })),
    ]

    const answers = []
    for (const request of requests)
      answers.push(await api.send(spec.method.toUpperCase(), request.address, request.body))

    expect(answers.some(({ status }) => status === 422) || !spec.body).toBe(true)
    const texts = answers.map(({ body }) => JSON.stringify(body))
    expect(texts.filter((text) => wordsOfZod.test(text))).toEqual([])
  },
)
