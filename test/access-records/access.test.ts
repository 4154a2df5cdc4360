import { expect, test } from 'vitest'
import { z } from 'zod'
import { OrganisationId, UserId } from '#domain/values.ts'
import { accessOf, isRecorded, ofInstallation } from '#infra/access-records/access.ts'
import { allRoutes } from '../../scripts/openapi.ts'
import { teamRoutesOf } from '../../scripts/roles-table.ts'

const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const [policy, customer, product, quote] = [1, 2, 3, 4].map((digit) => `b1000000-0000-5000-8000-00000000000${digit}`)
const user = {
  id: UserId.parse('0d9e8c7b-6a5f-4e3d-9c2b-1a0f9e8d7c6b'),
  organisation_id,
  roles: ['policies'],
  sees_personal_data: false,
} as const
const list = { method: 'get', address: '/admin/v1/policies' } as const
const asked = { spec: list, path: undefined, query: {}, request_id: 'request', user }

test('an answer is recorded with the records that it shows and the people whom they name, and with no value', () => {
  const body = {
    data: [
      {
        id: policy,
        product_id: product,
        customer: { id: customer, email: 'ada@example.com' },
        quotes: [{ id: quote }],
      },
    ],
    next_cursor: null,
  }
  const query = { organisation_id, policy_number: 'CS-1', limit: 50 }

  expect(accessOf({ ...asked, query, body })).toEqual({
    id: expect.stringMatching(/^[\da-f-]{36}$/) as string,
    organisation_id,
    actor_type: 'user',
    actor_id: user.id,
    method: 'GET',
    route: '/admin/v1/policies',
    record_type: 'policies',
    record_ids: [policy, customer],
    rows_shown: 1,
    personal: null,
    filters: ['policy_number'],
    request_id: 'request',
  })
})

test('one record is recorded with its parts', () => {
  const body = { data: { id: policy, customer: { id: customer }, quotes: [{ id: quote }] } }
  expect(accessOf({ ...asked, body }).record_ids).toEqual([policy, customer, quote])
})

test('a file, or what names nothing itself, is of the record that its address names', () => {
  const spec = { method: 'get', address: '/admin/v1/policies/:id/files/:version_id' } as const
  const access = accessOf({ ...asked, spec, path: { id: policy, version_id: quote }, body: new Uint8Array([1]) })

  expect(access).toMatchObject({ record_type: 'files', record_ids: [policy, quote], rows_shown: 1 })
})

test('it says if personal values were opened or masked, and which program’s key it was', () => {
  const spec = { method: 'get', address: '/audit/v1/organisations/:organisation_id/records/:type/:id/history' } as const
  const path = { organisation_id, type: 'policy', id: policy }
  const { user: _user, ...program } = { ...asked, operator: 'OPERATOR_KEY' }
  const of = (personal: string) => accessOf({ ...program, spec, path, query: { personal }, body: { data: [] } })

  expect(of('opened')).toMatchObject({ personal: 'opened', record_type: 'policy', rows_shown: 0, filters: [] })
  expect(of('masked')).toMatchObject({ personal: 'masked', actor_type: 'operator', actor_id: 'OPERATOR_KEY' })
})

test('what belongs to no organisation is the installation’s, and one record is that of the organisation it names', () => {
  const { user: _user, ...program } = { ...asked, operator: 'OPERATOR_KEY' }

  expect(accessOf({ ...program, body: { data: [] } }).organisation_id).toBe(ofInstallation)
  expect(accessOf({ ...program, body: { data: { organisation_id } } }).organisation_id).toBe(organisation_id)
})

/** Their `email` and `phone` are where these stand in what a sender sends, not anybody's. */
const mappings = /\/custom_integrations(?:$|\/)/

/** The names under which answers hold what may identify a person. Users of a team are shown by their ids alone elsewhere. */
const personal =
  /"(?:first_name|last_name|full_name|email|phone|mobile|dob|date_of_birth|postcode|address_line_1|account_holder|customer)":/

test('a route that says it shows nothing of a person has no field for it in its answers', () => {
  const quiet = teamRoutesOf(allRoutes()).filter(({ spec }) => !isRecorded(spec) && !mappings.test(spec.address))
  const answersOf = ({ answers }: (typeof quiet)[number]['spec']) =>
    Object.values(answers).map((schema) =>
      JSON.stringify(z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' })),
    )

  const loud = quiet.filter(({ spec }) => answersOf(spec).some((answer) => personal.test(answer)))

  expect(quiet.length).toBeGreaterThan(80)
  expect(loud.map(({ spec }) => `${spec.method} ${spec.address}`)).toEqual([])
})

test('every route that shows people, or who was shown them, is recorded', () => {
  const recorded = teamRoutesOf(allRoutes()).filter(({ spec }) => isRecorded(spec))
  const addresses = recorded.map(({ spec }) => `${spec.method} ${spec.address}`)

  expect(addresses).toEqual(
    expect.arrayContaining([
      'get /admin/v1/policies/:id/record',
      'get /admin/v1/organisations/:organisation_id/leads/:contact_id',
      'post /admin/v1/organisations/:organisation_id/policies/:id/cancellation',
      'get /audit/v1/organisations/:organisation_id/accesses',
      'get /audit/v1/accesses',
    ]),
  )
})
