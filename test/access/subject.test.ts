import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ApiApplicationId, ApplicationId } from '#domain/values.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { shareTokenOf } from '#infra/crypto/share-token.ts'
import { readOrWrite, route, type Subject } from '#infra/http/route.ts'
import type { FindOwner } from '#infra/http/subject.ts'
import { browserCaller, serve, serverCaller } from '../serve.ts'

const keys = deriveKeys(randomBytes(32).toString('base64'))
const application_id = ApplicationId.parse('0190b5a0-0000-7000-8000-000000000001')
const quoteId = '0190b5a0-0000-7000-8000-000000000002'
const ingestId = '0190b5a0-0000-7000-8000-000000000003'
const unknownId = '0190b5a0-0000-7000-8000-000000000009'
const otherSender = ApiApplicationId.parse('0190b5a0-0000-7000-8000-00000000000a')

const read = (address: string, subject: Subject) =>
  route(
    {
      method: 'get',
      address,
      tag: 'Test',
      summary: 'Read',
      access: { kind: 'application', scopes: readOrWrite, serverOnly: false, subject },
      path: z.object({ id: z.uuid() }),
      answers: { 200: z.object({ id: z.string() }) },
    },
    async ({ path }) => ({ status: 200, body: { id: path.id } }),
  )

const routes = [
  read('/applications/:id', { type: 'application', parameter: 'id', visibleTo: 'share_token_holder' }),
  read('/quotes/:id', { type: 'quote', parameter: 'id', visibleTo: 'share_token_holder' }),
  read('/ingests/:id', { type: 'lead_ingest', parameter: 'id', visibleTo: 'sender' }),
]

const ownerOfQuote: FindOwner = async (organisation_id, id) =>
  organisation_id === serverCaller().organisation_id && id === quoteId ? { application_id } : undefined
const ownerOfIngest: FindOwner = async (_organisation, id) =>
  id === ingestId ? { api_application_id: serverCaller().api_application_id } : undefined

const serveTo = (caller: ReturnType<typeof serverCaller>) =>
  serve(routes, caller, { keys, owners: { quote: ownerOfQuote, lead_ingest: ownerOfIngest } })

const proof = { 'x-share-token': shareTokenOf(keys, application_id) }
const anotherProof = { 'x-share-token': shareTokenOf(keys, ApplicationId.parse(unknownId)) }

test.each([`/applications/${application_id}`, `/quotes/${quoteId}`])(
  '200: a web page with the share token of the application sees %s',
  async (address) => {
    await using api = await serveTo(browserCaller())

    expect(await api.get(address, proof)).toMatchObject({ status: 200 })
  },
)

test.each([
  ['/applications', application_id, 'application', {}],
  ['/applications', application_id, 'application', anotherProof],
  ['/quotes', quoteId, 'quote', {}],
  ['/quotes', quoteId, 'quote', anotherProof],
  ['/quotes', unknownId, 'quote', proof],
])('404: a web page without it does not: %s/%s (%s)', async (address, id, type, headers) => {
  await using api = await serveTo(browserCaller())

  const { status, body } = await api.get(`${address}/${id}`, headers)

  expect(status).toBe(404)
  expect(body).toMatchObject({ error: { code: 'not_found', message: expect.stringContaining(type) as unknown } })
})

test('200: a server needs no share token', async () => {
  await using api = await serveTo(serverCaller())

  expect(await api.get(`/applications/${application_id}`)).toMatchObject({ status: 200 })
  expect(await api.get(`/quotes/${quoteId}`)).toMatchObject({ status: 200 })
})

test('200: what only its sender may see is shown to the API application that sent it', async () => {
  await using api = await serveTo(serverCaller())

  expect(await api.get(`/ingests/${ingestId}`)).toMatchObject({ status: 200 })
})

test('404: to another API application of the organisation it is as if there were none', async () => {
  await using api = await serveTo(serverCaller({ api_application_id: otherSender }))

  const another = await api.get(`/ingests/${ingestId}`)

  expect(another.status).toBe(404)
  expect(another.body).toEqual((await api.get(`/ingests/${unknownId}`)).body)
  expect(another.body).toMatchObject({ error: { message: 'There is no lead ingest with this id. Check the address.' } })
})

describe('path and body: 404 before 422', () => {
  const save = (type: string) =>
    route(
      {
        method: 'patch',
        address: `/${type}s/:id`,
        tag: 'Test',
        summary: 'Save',
        access: {
          kind: 'application',
          scopes: readOrWrite,
          serverOnly: false,
          subject: { type, parameter: 'id', visibleTo: 'share_token_holder' },
        },
        path: z.object({ id: z.uuid() }),
        query: z.object({ limit: z.coerce.number().max(200).optional() }),
        body: z.object({ term_years: z.int() }),
        answers: { 200: z.object({}) },
      },
      async () => ({ status: 200, body: {} }),
    )
  const owners = {
    application: async (_organisation: string, id: string) => (id === application_id ? { application_id } : undefined),
    quote: ownerOfQuote,
  }
  const saving = (caller: ReturnType<typeof serverCaller>) =>
    serve([save('application'), save('quote')], caller, { keys, owners })
  const json = { 'content-type': 'application/json' }
  const unfit = [
    ['', { term_years: 'x' }],
    ['?limit=201', { term_years: 1 }],
    ['', '{ no JSON'],
  ] as const

  test.each(unfit)('of a web page, what is hidden is refused first: %s %j', async (query, body) => {
    await using api = await saving(browserCaller())
    const address = `/applications/${application_id}${query}`

    expect(await api.patch(address, body, json)).toMatchObject({ status: 404 })
    expect(await api.patch(address, body, { ...json, ...proof })).toMatchObject({ status: 422 })
  })

  test.each(unfit)('of a server, what is not there is refused first: %s %j', async (query, body) => {
    await using api = await saving(serverCaller())
    const statusOf = async (address: string) => (await api.patch(`${address}${query}`, body, json)).status

    expect(await statusOf(`/applications/${application_id}`)).toBe(422)
    expect(await statusOf(`/quotes/${quoteId}`)).toBe(422)
    expect(await statusOf(`/applications/${unknownId}`)).toBe(404)
    expect(await statusOf(`/quotes/${unknownId}`)).toBe(404)
  })
})
