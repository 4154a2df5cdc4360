import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { OrganisationId, type UserRole } from '#domain/values.ts'
import { teamRoute, impersonalRoute, type TeamRoute } from '#infra/http/route.ts'
import { isWithin, mayCall, namedRoles } from '#infra/http/team.ts'
import { allRoutes } from '../../scripts/openapi.ts'
import { guideWithRoles, teamRoutesOf } from '../../scripts/roles-table.ts'

const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const member = (...roles: readonly UserRole[]) => ({ organisation_id, roles, sees_personal_data: false })
const ofInstallation = (...roles: readonly UserRole[]) => ({ organisation_id: null, roles, sees_personal_data: false })
const get = ({ access }: TeamRoute) => ({ method: 'get', access })
const post = ({ access }: TeamRoute) => ({ method: 'post', access })

test('the guide has the matrix of roles and routes as the routes declare it', async () => {
  const guide = await readFile(new URL('../../docs/roles.md', import.meta.url), 'utf8')

  expect(guide).toBe(guideWithRoles(guide))
})

test('a route is open to the roles that it names, and to nobody else of the organisation', () => {
  expect(mayCall(post(teamRoute('leads')), member('leads'))).toBe(true)
  expect(mayCall(post(teamRoute('leads')), member('owner', 'claims'))).toBe('role')
  expect(mayCall(post(teamRoute('operator')), member('owner'))).toBe('role')
  expect(mayCall(post(teamRoute('operator')), ofInstallation('operator'))).toBe(true)
  expect(mayCall(post(teamRoute('leads')), ofInstallation('operator'))).toBe('role')
})

test('an auditor reads what others of the organisation read, and changes nothing', () => {
  expect(mayCall(get(impersonalRoute('owner')), member('auditor'))).toBe(true)
  expect(mayCall(post(impersonalRoute('owner')), member('auditor'))).toBe('role')
  expect(mayCall(get(impersonalRoute('operator')), member('auditor'))).toBe('role')
  expect(mayCall(get(impersonalRoute('operator')), ofInstallation('auditor'))).toBe(true)
  expect(mayCall(get(impersonalRoute('owner')), ofInstallation('auditor'))).toBe(true)
})

test('an auditor sees personal values only with that right, and others whatever their work needs', () => {
  expect(mayCall(get(teamRoute('leads')), member('auditor'))).toBe('personal data')
  expect(mayCall(get(teamRoute('leads')), { ...member('auditor'), sees_personal_data: true })).toBe(true)
  expect(mayCall(get(teamRoute('leads')), member('auditor', 'leads'))).toBe(true)
})

test('the roles of a route are told as a sentence names them', () => {
  expect(namedRoles(get(teamRoute('owner', 'operator')))).toBe(
    'owner or auditor of the organisation, or operator or auditor of the installation',
  )
  expect(namedRoles(post(teamRoute('leads')))).toBe('leads of the organisation')
  expect(namedRoles(post(teamRoute('operator')))).toBe('operator of the installation')
})

test('a record of another organisation is not there for a person of an organisation', () => {
  expect(isWithin({ user: member('owner') }, organisation_id)).toBe(true)
  expect(isWithin({ user: member('owner') }, '7b0c1f4e-9d7d-4f0e-8f43-0c2d0b0f6a11')).toBe(false)
  expect(isWithin({ user: ofInstallation('operator') }, organisation_id)).toBe(true)
  expect(isWithin({}, organisation_id)).toBe(true)
})

test('what acts on the cases of a firm is open to nobody of the installation', () => {
  const acts = teamRoutesOf(allRoutes()).filter(
    ({ spec }) => spec.method !== 'get' && /leads|people|policies|team_applications|outcomes/.test(spec.address),
  )

  expect(acts.length).toBeGreaterThan(20)
  expect(acts.filter(({ spec }) => spec.access.roles.includes('operator')).map(({ spec }) => spec.address)).toEqual([])
})
