import { z } from 'zod'

// Of another shape it is no value that a path or a query has.
const Value = z.union([z.string(), z.number(), z.boolean()]).optional().catch(undefined)

const Operation = z.object({
  operationId: z.string(),
  parameters: z
    .array(
      z.object({
        name: z.string(),
        in: z.string(),
        example: Value,
        schema: z.object({ example: Value }).optional(),
      }),
    )
    .default([]),
  requestBody: z.object({ content: z.record(z.string(), z.object({ example: z.unknown().optional() })) }).optional(),
})

export const Document = z.object({ paths: z.record(z.string(), z.record(z.string(), Operation)) })

const Example = z.object({
  path: z.record(z.string(), z.string()).default({}),
  query: z.record(z.string(), z.string()).default({}),
  body: z.unknown().optional(),
})
export const Demo = z.object({
  client_id: z.string(),
  client_secret: z.string(),
  operator_key: z.string(),
  examples: z.record(z.string(), Example),
})

const textOf = (type: string, body: unknown): string => {
  if (typeof body === 'string') return body
  return type === 'application/x-www-form-urlencoded'
    ? new URLSearchParams(z.record(z.string(), z.string()).parse(body)).toString()
    : JSON.stringify(body)
}

/** The requests that the explorer fills in, in the order of the document. */
export const requestsOf = async ({ paths }: z.output<typeof Document>, demo: z.output<typeof Demo>, origin: string) => {
  const form = { grant_type: 'client_credentials', client_id: demo.client_id, client_secret: demo.client_secret }
  const granted = await fetch(`${origin}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ ...form, scope: 'read write crm outcomes', resource: `${origin}/api/v1` }),
  })
  const { access_token } = z.object({ access_token: z.string() }).parse(await granted.json())

  return Object.entries(paths).flatMap(([address, methods]) =>
    Object.entries(methods).map(([method, { operationId, parameters, requestBody }]) => {
      const example = demo.examples[operationId] ?? Example.parse({})
      const given = parameters.map(({ name, in: place, example: own, schema }) => {
        const value = (place === 'path' ? example.path : example.query)[name] ?? own ?? schema?.example
        return { name, place, value: value === undefined ? undefined : String(value) }
      })
      const path = given
        .filter(({ place }) => place === 'path')
        .reduce(
          (filled, { name, value }) => filled.replace(`{${name}}`, encodeURIComponent(value ?? `{${name}}`)),
          address,
        )
      const query = new URLSearchParams()
      for (const { name, place, value } of given) if (place === 'query' && value !== undefined) query.set(name, value)
      const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? []
      const body = type === undefined ? undefined : (example.body ?? content?.example)
      const bearer = /^\/(admin|audit)\//.test(address) ? demo.operator_key : access_token
      return {
        operationId,
        method: method.toUpperCase(),
        path: `${path}${query.size > 0 ? `?${query.toString()}` : ''}`,
        headers: {
          ...(operationId !== 'getToken' && { authorization: `Bearer ${bearer}` }),
          ...(type !== undefined && { 'content-type': type }),
        },
        ...(type !== undefined && body !== undefined && { body: textOf(type, body) }),
      }
    }),
  )
}
