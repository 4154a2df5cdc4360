import { afterAll, beforeAll, expect, test } from 'vitest'
import { leadService, type LeadService } from '../ingests/fixture.ts'
import { userNames } from '../../query-api/user-names.ts'
import { memberOf } from './team.ts'

let service: LeadService
let contact_id: string
let agent: { readonly id: string; readonly key: string }
beforeAll(async () => {
  service = await leadService()
  const received = await service.process({ identity: { email: 'ada@example.com', first_name: 'Ada' } })
  contact_id = received.contact_id ?? ''
  agent = await memberOf(service, service.organisation_id, ['leads'])
}, 120_000)
afterAll(() => service[Symbol.asyncDispose]())

const work = async (body: object, token?: string) =>
  service.send('POST', `${service.admin}/leads/${contact_id}/acts`, {
    body: { acts: [{ act: 'record_activity', kind: 'call', summary: 'Rings back tomorrow.' }], ...body },
    ...(token !== undefined && { token }),
  })
const events = async () => service.parts.eventLog.read(`lead-${contact_id}`, {})

test('422: with a user’s key nobody else can be said to act, and nothing is recorded', async () => {
  const before = await events()

  const answer = await work({ by: 'The Queen' }, agent.key)

  expect(answer).toMatchObject({
    status: 422,
    body: { error: { code: 'validation_failed', fields: { by: 'must be left out, since the key says who acts' } } },
  })
  expect(await events()).toHaveLength(before.length)
})

test.each([{}, { by: null }])('what is done with a user’s key is the user’s own act: %j', async (by) => {
  expect((await work(by, agent.key)).status).toBe(200)

  expect((await events()).at(-1)?.metadata.actor).toEqual({ type: 'user', id: agent.id })
})

test('a user’s own id says the same', async () => {
  expect((await work({ by: agent.id }, agent.key)).status).toBe(200)
})

test('with the key of a program the name that it sends stands beside the key', async () => {
  expect((await work({ by: 'Ada Lovelace' })).status).toBe(200)

  const recorded = (await events()).at(-1)
  expect(recorded?.metadata.actor).toEqual({ type: 'operator', id: 'OPERATOR_KEY' })
  expect(recorded?.data).toMatchObject({ by: { type: 'user', name: 'Ada Lovelace' } })
})

test('the history of a record names the user who acted, and of a program’s key whom it said to be', async () => {
  await work({}, agent.key)
  await work({ by: 'Ada Lovelace' })
  const address = `/audit/v1/organisations/${service.organisation_id}/records/lead/${contact_id}/history`

  const { body } = await service.send<{ readonly who: object }[]>('GET', `${address}?limit=200&personal=opened`)

  expect(body.data.slice(-2).map(({ who }) => who)).toEqual([
    { as: 'user', id: agent.id, name: 'The leads', said_to_be: null },
    { as: 'operator', id: 'OPERATOR_KEY', name: 'OPERATOR_KEY', said_to_be: 'Ada Lovelace' },
  ])
})

test('a user who is not known, or was erased, has a part of the id in place of a name', async () => {
  const nobody = 'a1b2c3d4-0000-4000-8000-000000000000'
  expect(await userNames(service.parts.eventLog)(nobody)).toBe('person a1b2c3d4')
})
