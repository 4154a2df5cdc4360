import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { routesByApi } from '../scripts/openapi.ts'
import { wholeService } from './whole-service.ts'

let service: Awaited<ReturnType<typeof wholeService>>
beforeAll(async () => {
  service = await wholeService()
}, 60_000)
afterAll(() => service[Symbol.asyncDispose]())

const nobodys = '6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f'

/** Those that are no ids. */
const parameters: Readonly<Record<string, string>> = {
  version: '1',
  type: 'policy',
  review_on: '2026-01-15',
  mode: 'live',
  provider: 'twilio_lookup',
  provider_name: 'entra',
  level: '0',
  tile: '000',
}

/** All that the operator may ask of one organisation, and where that is named. */
const { query: reading, command } = routesByApi()
const operations = [...reading, ...command].flatMap(({ spec: { access, method, address, query } }) => {
  if (access.kind !== 'team') return []
  const isInPath = address.includes(':organisation_id')
  const isInQuery = query instanceof z.ZodObject && 'organisation_id' in query.shape
  const path = address.replaceAll(/:(\w+)/g, (_, name: string) => parameters[name] ?? nobodys)
  return isInPath ? [[method, path]] : isInQuery ? [[method, `${path}?organisation_id=${nobodys}`]] : []
})

test('nothing can be asked of an organisation that there is not, neither its lists nor its acts', async () => {
  expect(operations.length).toBeGreaterThan(100)
  const answers = await Promise.all(
    operations.map(async ([method = '', path = '']) => {
      const { status, body } = await service.send(method.toUpperCase(), path)
      return { method, path, status, message: body.error?.message }
    }),
  )

  const message = 'There is no organisation with this id. Check the address.'
  expect(answers).toEqual(operations.map(([method, path]) => ({ method, path, status: 404, message })))
})

test('what another organisation has is not there: no record, no file and no timeline', async () => {
  const own = await service.organisation('with-nothing')
  const ofRecords = operations.filter(
    ([method, path]) => method === 'get' && path?.replace(/organisations\/[^/?]+|\?.*/g, '').includes(nobodys),
  )
  const asked = ofRecords.map(([, path = '']) =>
    path
      .replace(`organisations/${nobodys}`, `organisations/${own}`)
      .replace(`organisation_id=${nobodys}`, `organisation_id=${own}`),
  )
  const answers = await Promise.all(asked.map(async (path) => [path, (await service.send('GET', path)).status]))

  expect(asked.length).toBeGreaterThan(10)
  expect(answers.filter(([, status]) => status !== 404)).toEqual([])
})

test('one that was registered a moment ago is there', async () => {
  const id = await service.organisation('a-moment-ago')

  expect((await service.send('GET', `/admin/v1/organisations/${id}/leads`)).status).toBe(200)
  expect((await service.send('GET', `/admin/v1/policies?organisation_id=${id}`)).status).toBe(200)
})
