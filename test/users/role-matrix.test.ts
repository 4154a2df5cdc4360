import { afterAll, beforeAll, expect, test } from 'vitest'
import { ZodObject } from 'zod'
import { InstallationRole, OrganisationRole } from '#domain/values.ts'
import { rolesFor } from '#infra/http/team.ts'
import { allRoutes } from '../../scripts/openapi.ts'
import { teamRoutesOf, type TeamRoute } from '../../scripts/roles-table.ts'
import { wholeService } from '../whole-service.ts'
import { memberOf, type Member } from './team.ts'

let service: Awaited<ReturnType<typeof wholeService>>
let own: string
let others: string
/** One of each role, in each organisation and in the installation. */
const members = new Map<string, Member>()

beforeAll(async () => {
  service = await wholeService()
  own = await service.organisation('own')
  others = await service.organisation('others')
  for (const organisation_id of [own, others])
    for (const role of OrganisationRole.options)
      members.set(
        `${organisation_id} ${role}`,
        await memberOf(service, organisation_id, [role], { sees_personal_data: true }),
      )
  for (const role of InstallationRole.options)
    members.set(`installation ${role}`, await memberOf(service, null, [role], { sees_personal_data: true }))
  members.set('blind', await memberOf(service, own, ['auditor'], { name: 'Without personal values' }))
}, 120_000)
afterAll(() => service[Symbol.asyncDispose]())

const nobodys = '7b0c1f4e-9d7d-4f0e-8f43-0c2d0b0f6a11'
/** Those that are no ids. */
const parameters: Readonly<Record<string, string>> = {
  version: '1',
  review_on: '2026-01-15',
  mode: 'live',
  type: 'policy',
  level: '0',
  tile: '000',
  provider: 'twilio_lookup',
  provider_name: 'nobodys-provider',
  name: 'nobodys-key',
}
const routes = teamRoutesOf(allRoutes())

const namesInQuery = ({ spec: { query } }: TeamRoute): boolean =>
  query instanceof ZodObject && 'organisation_id' in query.shape
const namesOrganisation = (each: TeamRoute): boolean =>
  each.spec.address.includes(':organisation_id') || namesInQuery(each)

const addressFor = (each: TeamRoute, organisation_id: string): string => {
  const path = each.spec.address.replaceAll(/:(\w+)/g, (_, name: string) =>
    name === 'organisation_id' ? organisation_id : (parameters[name] ?? nobodys),
  )
  return namesInQuery(each) ? `${path}?organisation_id=${organisation_id}` : path
}

const ask = async (each: TeamRoute, organisation_id: string, token: string) => {
  const path = addressFor(each, organisation_id)
  const { method } = each.spec
  const isFile = path.startsWith('/admin/v1/setup')
  const body = method === 'get' || method === 'delete' ? {} : { body: isFile ? 'organisations: []' : {} }
  const headers = { accept: 'application/json' }
  const answer = await service.send(method.toUpperCase(), path, { token, headers, ...body })
  return { route: `${method} ${each.spec.address}`, status: answer.status, message: answer.body.error?.message }
}

const keyOf = (name: string): string => members.get(name)?.key ?? ''
const noOrganisation = 'There is no organisation with this id. Check the address.'

/** Past the check of roles: done, or the record is missing, or what was sent does not do. */
const isIn = ({ status, message }: { readonly status: number; readonly message: string | undefined }): boolean =>
  (status >= 200 && status < 300) || (status === 404 && message !== noOrganisation) || [409, 422].includes(status)

const verdict = (answer: Awaited<ReturnType<typeof ask>>, wanted: boolean) => {
  const isRight = wanted ? isIn(answer) : answer.status === 403
  return isRight ? [] : [{ ...answer, wanted: wanted ? 'in' : '403' }]
}

test.each(OrganisationRole.options)(
  '%s of the organisation: every route of the team answers as the matrix says',
  async (role) => {
    const wrong = []
    for (const each of routes) {
      const isWanted = rolesFor(each.spec).organisation.some((allowed) => allowed === role)
      wrong.push(...verdict(await ask(each, own, keyOf(`${own} ${role}`)), isWanted))
    }

    expect(routes.length).toBeGreaterThan(140)
    expect(wrong).toEqual([])
  },
)

test.each(OrganisationRole.options)('%s of another organisation: what they may call is not there', async (role) => {
  const wrong = []
  for (const each of routes.filter(namesOrganisation)) {
    const answer = await ask(each, own, keyOf(`${others} ${role}`))
    const isAllowed = rolesFor(each.spec).organisation.some((allowed) => allowed === role)
    const unknown = await ask(each, nobodys, keyOf(`${others} ${role}`))
    const isRight = isAllowed ? answer.status === 404 && answer.message === noOrganisation : answer.status === 403
    if (!isRight || answer.message !== unknown.message) wrong.push({ ...answer, unknown })
  }

  expect(wrong).toEqual([])
})

test.each(InstallationRole.options)('%s of the installation: every route answers as the matrix says', async (role) => {
  // Apart, since an operator may switch an organisation off.
  const organisation_id = await service.organisation(`seen-by-${role}`)
  const wrong = []
  for (const each of routes) {
    const isWanted = rolesFor(each.spec).installation.some((allowed) => allowed === role)
    wrong.push(...verdict(await ask(each, organisation_id, keyOf(`installation ${role}`)), isWanted))
  }

  expect(wrong).toEqual([])
})

test('without a key, or with one that is nobody’s, every route of the team is closed', async () => {
  const wrong = []
  for (const each of routes) {
    const answer = await ask(each, own, 'nobody’s key'.replace('’', ''))
    if (answer.status !== 401) wrong.push(answer)
  }

  expect(wrong).toEqual([])
})

test('an auditor without personal values reads what shows none, and gets 403 for all else', async () => {
  const wrong = []
  for (const each of routes.filter(({ spec }) => spec.method === 'get')) {
    const isWanted = rolesFor(each.spec).organisation.length > 0 && !each.spec.access.showsPersonalData
    wrong.push(...verdict(await ask(each, own, keyOf('blind')), isWanted))
  }

  expect(wrong).toEqual([])
})
