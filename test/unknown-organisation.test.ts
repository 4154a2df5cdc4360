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

/** What the operator is shown of one organisation, and where that is named. */
const { query: reading, command } = routesByApi()
const lists = [...reading, ...command].flatMap(({ spec: { access, method, address, query } }) => {
  if (access.kind !== 'operator' || method !== 'get') return []
  const isInPath = address.includes(':organisation_id')
  const isInQuery = query instanceof z.ZodObject && 'organisation_id' in query.shape
  const path = address
    .replace(/:(version|review_on)\b/, (_, name) => (name === 'version' ? '1' : '2026-01-15'))
    .replaceAll(/:\w+/g, nobodys)
  return isInPath ? [path] : isInQuery ? [`${path}?organisation_id=${nobodys}`] : []
})

test('an organisation that there is not has no lists, nor anything else', async () => {
  expect(lists.length).toBeGreaterThan(40)
  const answers = await Promise.all(
    lists.map(async (path) => {
      const { status, body } = await service.send<{ message: string }>('GET', path)
      return { path, status, message: (body as unknown as { error?: { message: string } }).error?.message }
    }),
  )

  const message = 'There is no organisation with this id. Check the address.'
  expect(answers).toEqual(lists.map((path) => ({ path, status: 404, message })))
})

test('one that was registered a moment ago is there', async () => {
  const id = await service.organisation('a-moment-ago')

  expect((await service.send('GET', `/admin/v1/organisations/${id}/leads`)).status).toBe(200)
  expect((await service.send('GET', `/admin/v1/policies?organisation_id=${id}`)).status).toBe(200)
})
