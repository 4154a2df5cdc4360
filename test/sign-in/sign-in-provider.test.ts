import { expect, test } from 'vitest'
import { SignInProviderId } from '#domain/sign-in/events.ts'
import {
  providersOf,
  rolesOfClaims,
  signInProvidersFold,
  signInSecretBinding,
  type SignInProviders,
} from '#domain/sign-in/record.ts'
import { signInProvider, type SignInProviderCommand } from '#domain/sign-in/sign-in-provider.ts'
import { OrganisationId, type UserRole } from '#domain/values.ts'
import { rejected, scenariosOf } from '../scenario.ts'

const scenario = scenariosOf(signInProvider)
const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const sign_in_provider_id = SignInProviderId.parse('e6000000-0000-4000-8000-000000000001')
const given = {
  sign_in_provider_id,
  organisation_id,
  name: 'entra',
  issuer: 'https://login.example/tenant',
  client_id: 'coverstream',
  sealed_secret: 'sealed',
  roles_claim: 'groups',
  roles_of: [{ value: 'agents', roles: ['leads'] as UserRole[] }],
}
const isSet = { type: 'SignInProviderSet', ...given } as const
const set = (changes: Partial<Extract<SignInProviderCommand, { type: 'SetSignInProvider' }>> = {}) =>
  ({
    type: 'SetSignInProvider',
    ...given,
    http_allowed: false,
    is_same_secret: false,
    others: 0,
    ...changes,
  }) as const
const remove = { type: 'RemoveSignInProvider', sign_in_provider_id } as const
const removed = { type: 'SignInProviderRemoved', sign_in_provider_id } as const
const again = { sealed_secret: 'sealed again', is_same_secret: true }

scenario('a provider is set up', { given: [], when: set(), then: [isSet] })
scenario('set again as it is, nothing happens', { given: [isSet], when: set(again), then: [] })
scenario('another secret is a change', {
  given: [isSet],
  when: set({ sealed_secret: 'other' }),
  then: [{ ...isSet, sealed_secret: 'other' }],
})
const rotated = { ...isSet, sealed_secret: 'rotated' }
scenario('a secret that is kept is the one in force by then', {
  given: [isSet, rotated],
  when: set({ roles_claim: 'roles', keeps_secret: true }),
  then: [{ ...rotated, roles_claim: 'roles' }],
})
scenario('but one that was replaced at another issuer goes to no other', {
  given: [isSet, { ...rotated, issuer: 'https://login.example/other' }],
  when: set({ keeps_secret: true }),
  then: [isSet],
})
scenario('nor to another client of the same issuer', {
  given: [isSet, { ...rotated, client_id: 'other' }],
  when: set({ keeps_secret: true }),
  then: [isSet],
})
const changes: readonly Partial<typeof given>[] = [
  { issuer: 'https://login.example/other' },
  { client_id: 'other' },
  { roles_claim: 'roles' },
  { roles_of: [{ value: 'bosses', roles: ['owner'] }] },
]
for (const change of changes)
  scenario(`so is ${Object.keys(change).join()}`, {
    given: [isSet],
    when: set({ ...again, ...change }),
    then: [{ ...isSet, sealed_secret: 'sealed again', ...change }],
  })
for (const issuer of [
  'nowhere',
  'ftp://login.example',
  'https://a@login.example',
  'https://:b@login.example',
  'https://login.example/?a=b',
  'https://login.example/#a',
])
  scenario(`${issuer} is no issuer`, {
    given: [],
    when: set({ issuer }),
    then: rejected('validation_failed', { issuer: 'must' }),
  })
scenario('an issuer is asked over TLS', {
  given: [],
  when: set({ issuer: 'http://login.example' }),
  then: rejected('validation_failed', { issuer: 'https' }),
})
scenario('unless the operator permits another', {
  given: [],
  when: set({ issuer: 'http://login.example', http_allowed: true }),
  then: [{ ...isSet, issuer: 'http://login.example' }],
})
scenario('but not by anything else', {
  given: [],
  when: set({ issuer: 'ftp://login.example', http_allowed: true }),
  then: rejected('validation_failed', { issuer: 'https' }),
})
scenario('a team has five providers', { given: [], when: set({ others: 4 }), then: [isSet] })
scenario('and no sixth', { given: [], when: set({ others: 5 }), then: rejected('conflict', undefined, '5 providers') })
scenario('one of many can be changed', {
  given: [isSet],
  when: set({ others: 5, client_id: 'other' }),
  then: [{ ...isSet, client_id: 'other' }],
})
scenario('a provider is removed', { given: [isSet], when: remove, then: [removed] })
scenario('removing it again does nothing', { given: [isSet, removed], when: remove, then: [] })

const { roles_claim } = given
const roles_of = [
  { value: 'agents', roles: ['leads' as const] },
  { value: 'bosses', roles: ['owner' as const, 'leads' as const] },
]

test.each([
  [['agents'], ['leads']],
  ['bosses', ['owner', 'leads']],
  [
    ['agents', 'bosses'],
    ['leads', 'owner'],
  ],
  [['owner'], []],
  [[], []],
  [{ agents: true }, []],
  [undefined, []],
])('claims %j give the roles %j', (groups, roles) => {
  expect(rolesOfClaims({ roles_claim, roles_of }, { groups, other: ['agents'] })).toEqual(roles)
})

test('a claim that every object has is none', () => {
  expect(rolesOfClaims({ roles_claim: 'constructor', roles_of }, {})).toEqual([])
})

test('the providers of a team are known in the order of their names, and no others', () => {
  const all: SignInProviders = new Map()
  const add = (id: number, name: string, team: typeof organisation_id | null) => {
    const one = SignInProviderId.parse(`e6000000-0000-4000-8000-00000000000${id}`)
    const event = { ...isSet, sign_in_provider_id: one, organisation_id: team, name }
    const metadata = { occurred_at: '2026-03-01T12:00:00.000Z' }
    signInProvidersFold.apply(all, event, { stream: `sign_in_provider-${one}`, metadata })
  }
  add(1, 'okta', organisation_id)
  add(2, 'entra', organisation_id)
  add(3, 'ours', null)

  expect(providersOf(all, organisation_id).map(({ name }) => name)).toEqual(['entra', 'okta'])
  expect(providersOf(all, null)).toMatchObject([{ name: 'ours', updated_at: '2026-03-01T12:00:00.000Z' }])
})

test('a secret opens only for the provider that it was sealed for', () => {
  expect(signInSecretBinding('team', sign_in_provider_id)).toEqual([
    'team',
    `sign_in_provider-${sign_in_provider_id}`,
    'client_secret',
  ])
})
