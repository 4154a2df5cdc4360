import { afterAll, expect, test } from 'vitest'
import { derivedId } from '#infra/ids.ts'
import { inputPath } from '#infra/http/problem.ts'
import { apiApplicationsSection } from '../../command-api/access/api-application-setup.ts'
import { organisationPlanner } from '../../command-api/access/organisation-setup.ts'
import { DeclaredApiApplication, DeclaredOrganisation } from '../../command-api/access/schemas.ts'
import type { SetupContext, SetupStep } from '../../command-api/setup-file/section.ts'
import { accessApi } from './access-api.ts'

const api = await accessApi()
afterAll(() => api[Symbol.asyncDispose]())

const section = apiApplicationsSection(api)
const planOrganisation = organisationPlanner(api)

const context = {
  actor: { type: 'operator', id: null },
  correlation_id: 'set-up',
  now: '2026-01-15T12:00:00.000Z',
} as const

const refuse: SetupContext['refuse'] = (path, reason) => {
  throw new Error(`${inputPath(path)} ${reason}`)
}

const setupOf = (
  organisation_id: SetupContext['organisation_id'],
  faults: string[] = [],
  declared: readonly object[] = [],
): SetupContext => ({
  organisation_id,
  currency_code: 'GBP',
  time_zone: 'Europe/London',
  stripe_test_mode: false,
  context: { ...context, organisation_id },
  refuse,
  bytes: () => undefined,
  makeSecret: () => 'a secret of the tests',
  report: (path, reason) => {
    faults.push(`${inputPath(path)} ${reason}`)
  },
  lacks: (path, name) => {
    faults.push(`${inputPath(path)} ${name}`)
  },
  declared: () => declared,
  file: () => undefined,
})

const apply = async (steps: readonly SetupStep[]) => {
  for (const step of steps) await step.apply()
}

const summary = (steps: readonly SetupStep[]) => steps.map(({ what, change }) => `${change} ${what}`)

const declare = (...declared: object[]) => declared.map((each) => DeclaredApiApplication.parse(each))

let firms = 0
const declaredFirm = (changes: object = {}) =>
  DeclaredOrganisation.parse({ slug: `declared-${++firms}`, name: 'Declared', ...changes })

test('an organisation is declared: planned, applied, and then nothing is left to do', async () => {
  const declared = declaredFirm()
  const { organisation_id, step } = await planOrganisation(declared, context, refuse)
  expect(step).toMatchObject({ what: `organisation ${declared.slug}`, change: 'create' })
  expect(api.directory.organisations.has(organisation_id)).toBe(false)

  await step.apply()

  expect(api.directory.organisations.get(organisation_id)).toMatchObject({ name: 'Declared', active: true })
  const again = await planOrganisation(declared, context, refuse)
  expect(again).toMatchObject({ organisation_id, step: { change: 'none', details: [] } })
})

test('a plan says what changes of an organisation', async () => {
  const declared = declaredFirm()
  await (await planOrganisation(declared, context, refuse)).step.apply()

  const { organisation_id, step } = await planOrganisation(
    { ...declared, name: 'Renamed', active: false },
    context,
    refuse,
  )
  expect(step).toMatchObject({ change: 'change', details: ['name: "Declared" → "Renamed"', 'active: true → false'] })
  await step.apply()

  expect(api.directory.organisations.get(organisation_id)).toMatchObject({ name: 'Renamed', active: false })
})

test('what the operator deactivated stays so unless the file says that it is active', async () => {
  const declared = declaredFirm()
  const { organisation_id, step } = await planOrganisation(declared, context, refuse)
  await step.apply()
  await api.operate('POST', `/organisations/${organisation_id}/deactivate`)

  expect((await planOrganisation(declared, context, refuse)).step.change).toBe('none')
  const { step: activation } = await planOrganisation({ ...declared, active: true }, context, refuse)
  expect(activation).toMatchObject({ change: 'change', details: ['active: false → true'] })
  await activation.apply()
  expect(api.directory.organisations.get(organisation_id)?.active).toBe(true)
})

test('an organisation that was registered with an id of its own is known by its slug', async () => {
  const id = '0d9e8c7b-6a5f-4e3d-9c2b-1a0f9e8d7c6b'
  const declared = declaredFirm({ id })
  await (await planOrganisation(declared, context, refuse)).step.apply()

  const { id: _id, ...withoutId } = declared
  expect(await planOrganisation(withoutId, context, refuse)).toMatchObject({
    organisation_id: id,
    step: { change: 'none' },
  })
  await expect(planOrganisation({ ...declared, slug: 'other-slug' }, context, refuse)).rejects.toThrow(
    'slug cannot change',
  )
  const taken = DeclaredOrganisation.parse({ ...declared, id: '1e6f1c52-3c07-4f6a-9c1d-5b0a4a7e2b33' })
  await expect(planOrganisation(taken, context, refuse)).rejects.toThrow('slug is that of another organisation')
})

test('a time zone that there is not is refused with its place', async () => {
  await expect(planOrganisation(declaredFirm({ time_zone: 'Nowhere' }), context, refuse)).rejects.toThrow(
    /^time_zone is/,
  )
})

test('API applications are declared: planned, applied, and then nothing is left to do', async () => {
  const setup = setupOf(await api.organisation())
  const declared = declare(
    {
      name: 'Site',
      scopes: ['read', 'write'],
      allowed_origins: ['https://a.example'],
      client_secret: 'a secret of ours',
    },
    { name: 'Server', scopes: ['read', 'crm'] },
  )
  const steps = await section.plan(declared, setup)
  expect(summary(steps)).toEqual(['create API application Site', 'create API application Server'])
  await apply(steps)

  expect(summary(await section.plan(declared, setup))).toEqual([
    'none API application Site',
    'none API application Server',
  ])
  const site = {
    client_id: derivedId('api_application', setup.organisation_id, 'Site'),
    client_secret: 'a secret of ours',
  }
  expect(await api.tokenOf(site)).toMatch(/^ey/)
})

test('a secret that the file does not give is made and shown once', async () => {
  const setup = setupOf(await api.organisation())
  const client_id = '3f1b6f0a-1c55-4e4c-9b1e-2d4a7b1a9f77'
  const declared = declare(
    { name: 'Server', scopes: ['read'], client_id },
    { name: 'Other', scopes: ['read'], client_secret: 'x'.repeat(16) },
  )
  const [step, other] = await section.plan(declared, setup)
  await step?.apply()

  expect(other?.secrets).toBeUndefined()
  const client_secret = step?.secrets?.['client_secret'] ?? ''
  expect(await api.tokenOf({ client_id, client_secret }, 'read')).toMatch(/^ey/)
  const [again] = await section.plan(declared, setup)
  expect(again?.secrets).toBeUndefined()
})

test('a given secret that is not the one in force replaces it', async () => {
  const setup = setupOf(await api.organisation())
  const declared = { name: 'Server', scopes: ['read'], client_secret: 'the former secret' }
  await apply(await section.plan(declare(declared), setup))
  const client_id = derivedId('api_application', setup.organisation_id, 'Server')
  const token = await api.tokenOf({ client_id, client_secret: 'the former secret' }, 'read')

  const steps = await section.plan(declare({ ...declared, client_secret: 'the newer secret' }), setup)
  expect(steps).toMatchObject([
    { change: 'change', details: [expect.stringMatching(/^client_secret: replaced/) as unknown] },
  ])
  expect(JSON.stringify(steps)).not.toContain('the newer secret')
  await apply(steps)

  expect((await api.call(token, '/api/v1/read')).status).toBe(401)
  expect(await api.tokenOf({ client_id, client_secret: 'the newer secret' }, 'read')).toMatch(/^ey/)
})

test('a plan says what changes of an API application', async () => {
  const { organisation_id } = setupOf(await api.organisation())
  const declared = { name: 'Site', scopes: ['read', 'write'], allowed_origins: ['https://a.example'] }
  await apply(await section.plan(declare(declared), setupOf(organisation_id, [], [declared])))

  const changed = { ...declared, scopes: ['read'], allowed_origins: ['https://b.example'] }
  const steps = await section.plan(declare(changed), setupOf(organisation_id, [], [changed]))

  expect(steps).toMatchObject([
    {
      change: 'change',
      details: [
        'scopes: ["read","write"] → ["read"]',
        'allowed_origins: ["https://a.example"] → ["https://b.example"]',
      ],
    },
  ])
})

test('a deleted application that is still declared is created again', async () => {
  const setup = setupOf(await api.organisation())
  const declared = declare({ name: 'Server', scopes: ['read'], client_secret: 'always the same secret' })
  const client = {
    client_id: derivedId('api_application', setup.organisation_id, 'Server'),
    client_secret: 'always the same secret',
  }
  await apply(await section.plan(declared, setup))
  const token = await api.tokenOf(client, 'read')
  await api.operate('DELETE', `/organisations/${setup.organisation_id}/api_applications/${client.client_id}`)

  const steps = await section.plan(declared, setup)
  expect(summary(steps)).toEqual(['create API application Server'])
  await apply(steps)

  expect((await api.call(token, '/api/v1/read')).status).toBe(401)
  expect((await api.call(await api.tokenOf(client, 'read'), '/api/v1/read')).status).toBe(200)
})

test('all that cannot be is said, each with its place in the list', async () => {
  const faults: string[] = []
  const setup = setupOf(await api.organisation(), faults)
  const elsewhere = await api.apiApplication(['read'])
  const declared = declare(
    { name: 'Server', scopes: ['read'] },
    { name: 'Site', scopes: ['crm'], allowed_origins: ['https://a.example'] },
    { name: 'Shop', scopes: ['read'], allowed_origins: ['https://a.example', 'https://a.example/x'] },
    { name: 'Theirs', scopes: ['read'], client_id: elsewhere.client_id },
    { name: 'Server', scopes: ['read'] },
  )

  await section.plan(declared, setup)

  expect(faults).toEqual([
    expect.stringMatching(/^\[1\]\.scopes a browser application can hold only/),
    expect.stringMatching(/^\[2\]\.allowed_origins\[1\] must be an exact origin/),
    expect.stringMatching(/^\[3\] .*exists already/),
    expect.stringMatching(/^\[4\] is the same API application/),
  ])
})
