import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { allRoutes, currentDocument } from '../../scripts/openapi.ts'
import { wholeService } from '../whole-service.ts'

let service: Awaited<ReturnType<typeof wholeService>>
beforeAll(async () => {
  service = await wholeService()
})
afterAll(() => service[Symbol.asyncDispose]())

const address = '/admin/v1/operator_keys'
const unknownId = '7b0c1f4e-9d7d-4f0e-8f43-0c2d0b0f6a11'

const make = async (body: object): Promise<string> => {
  const { status, body: made } = await service.send<{ key: string }>('POST', address, { body })
  expect(status).toBe(201)
  return made.data.key
}

test('whatever is done with a key bears its name, in every event', async () => {
  const token = await make({ name: 'grace', scope: 'all' })
  const registered = { slug: 'graces-firm', name: 'Grace’s firm' }
  const { body } = await service.send<{ id: string }>('POST', '/admin/v1/organisations', { body: registered, token })
  const setUp = 'organisations: [{ slug: graces-firm, name: Renamed }]'
  await service.send('POST', '/admin/v1/setup?apply=true', { body: setUp, token })
  await service.send('POST', `/admin/v1/organisations/${body.data.id}/deactivate`)

  const events = await service.parts.eventLog.read(`organisation-${body.data.id}`, {})
  expect(events.map(({ type, metadata }) => [type, metadata.actor])).toEqual([
    ['OrganisationRegistered', { type: 'operator', id: 'grace' }],
    ['OrganisationChanged', { type: 'operator', id: 'grace' }],
    ['OrganisationDeactivated', { type: 'operator', id: 'OPERATOR_KEY' }],
  ])
})

test('keys are listed with who made them, without the keys', async () => {
  const token = await make({ name: 'joan', scope: 'all', ends_at: '2999-01-01T00:00:00+01:00' })
  await service.send('POST', address, {
    body: { name: 'joan.reads', scope: 'read_only', ends_at: '2998-01-01T00:00:00Z' },
    token,
  })

  const { body } = await service.send<{ name: string }[]>('GET', address)
  const [joan, reads] = body.data.filter(({ name }) => name.startsWith('joan'))
  const made_at = expect.stringMatching(/^20/) as unknown
  const ends_at = '2998-12-31T23:00:00.000Z'
  expect(joan).toEqual({ name: 'joan', scope: 'all', made_at, made_by: 'OPERATOR_KEY', ends_at, in_force: true })
  expect(reads).toMatchObject({ scope: 'read_only', made_by: 'joan' })
})

test('401 at once when a key is ended', async () => {
  const token = await make({ name: 'ended', scope: 'all' })
  expect((await service.send('GET', address, { token })).status).toBe(200)

  const answer = await service.send('DELETE', `${address}/ended`)

  expect(answer).toMatchObject({ status: 200, body: { data: { in_force: false } } })
  expect((await service.send('GET', address, { token })).status).toBe(401)
  expect((await service.send('DELETE', `${address}/ended`)).body).toEqual(answer.body)
})

test('401 when a key has come to its end, in both APIs', async () => {
  const token = await make({ name: 'short', scope: 'all', ends_at: new Date(Date.now() + 500).toISOString() })

  await vi.waitUntil(async () => (await service.send('GET', address, { token })).status === 401, { timeout: 60_000 })
  expect((await service.send('GET', '/admin/v1/deliveries', { token })).status).toBe(401)
  expect((await service.send('GET', address)).body.data).toContainEqual(
    expect.objectContaining({ name: 'short', in_force: false }),
  )
})

type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: Record<string, unknown> }>>>>
}

test('a key that may only read gets 403 on every operation that changes something, and on no other', async () => {
  const token = await make({ name: 'auditor', scope: 'read_only' })
  const own = allRoutes().filter(({ spec }) => spec.access.kind === 'team')
  expect(own.length).toBeGreaterThan(50)
  const asking = own.filter(({ spec }) => spec.access.kind === 'team' && spec.access.changesNothing)
  expect(asking.map(({ spec }) => spec.address)).toEqual([
    '/audit/v1/organisations/:organisation_id/people/search',
    '/admin/v1/organisations/:organisation_id/people/search',
    ...[
      'premiums/:premium_id/refund',
      'suspension',
      'reinstatement',
      'amendment',
      'mandate',
      'cancellation',
      'claims/:claim_id/decisions',
    ].map((act) => `/admin/v1/organisations/:organisation_id/policies/:id/${act}/preview`),
    '/admin/v1/setup/plan',
  ])

  const { paths } = JSON.parse(currentDocument()) as Document
  const ask = async ({ spec }: (typeof own)[number]) => {
    const documented = paths[spec.address.replaceAll(/:(\w+)/g, '{$1}')]?.[spec.method]?.responses
    const changes = spec.method !== 'get' && !(spec.access.kind === 'team' && spec.access.changesNothing)
    // A key of a user is refused where their roles do not allow the operation, also one that only reads.
    expect({ address: spec.address, isTold: documented?.['403'] !== undefined }).toEqual({
      address: spec.address,
      isTold: true,
    })
    const path = spec.address.replaceAll(/:\w+/g, unknownId)
    const { status, body } = await service.send(spec.method.toUpperCase(), path, { token })
    const refused = {
      code: 'forbidden',
      message: 'The operator key auditor may only read. Use one whose scope is all.',
    }
    if (!changes) expect({ path, isRefused: [401, 403, 500].includes(status) }).toEqual({ path, isRefused: false })
    else expect({ path, status, error: body.error }).toEqual({ path, status: 403, error: refused })
  }
  await Promise.all(own.map(ask))
})

test.each([
  ['name', { name: 'Ada Lovelace', scope: 'all' }],
  ['scope', { name: 'one' }],
  ['scope', { name: 'one', scope: 'some' }],
  ['ends_at', { name: 'one', scope: 'all', ends_at: 'soon' }],
  ['ends_at', { name: 'one', scope: 'all', ends_at: '2020-01-01T00:00:00Z' }],
])('422: %s is named when it cannot be used', async (field, body) => {
  const answer = await service.send('POST', address, { body })

  expect(answer.status).toBe(422)
  expect(Object.keys(answer.body.error?.fields ?? {})).toEqual([field])
})

test('409: a name is used once, also by two requests at once', async () => {
  const answers = await Promise.all(
    Array.from({ length: 5 }, async () => service.send('POST', address, { body: { name: 'twice', scope: 'all' } })),
  )
  expect(answers.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(1)
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(4)
})

test('404: a key that was never made is not ended', async () => {
  expect((await service.send('DELETE', `${address}/nobody`)).status).toBe(404)
})

test('the command makes, lists and ends keys', async () => {
  const environment = { ...process.env, BASE_URL: service.origin, OPERATOR_KEY: 'the operator key of the tests' }
  const run = async (...given: readonly string[]) =>
    promisify(execFile)(process.execPath, ['cli/operator-keys.ts', ...given], {
      cwd: join(import.meta.dirname, '..', '..'),
      env: environment,
    })

  const made = await run('make', 'katherine', '--read-only', '--ends', '2999-01-01T00:00:00Z')
  const token = z.string().parse(/^ {2}(\S{43})$/m.exec(made.stdout)?.[1])
  expect((await service.send('GET', address, { token })).status).toBe(200)
  expect((await run('list')).stdout).toMatch(/^katherine {2}read_only {2}until 2999-01-01T00:00:00.000Z/m)
  expect((await run('end', 'katherine')).stdout).toMatch(/^katherine {2}read_only {2}ended 20/)
  expect((await service.send('GET', address, { token })).status).toBe(401)
  await expect(run('make', 'katherine')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('choose another') as unknown,
  })
  await expect(run('made')).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('Usage:') as unknown })
})
