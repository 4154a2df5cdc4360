import { expect, test } from 'vitest'
import { apiApplication, type ApiApplicationCommand } from '#domain/access/api-application.ts'
import type { ApiApplicationEvent, Scope } from '#domain/access/events.ts'
import { ApplicationKind, foldApiApplication, formerInForce } from '#domain/access/record.ts'
import { originOf } from '#domain/origin.ts'
import { ApiApplicationId, OrganisationId } from '#domain/values.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'

const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const someoneElse = OrganisationId.parse('0d9e8c7b-6a5f-4e3d-9c2b-1a0f9e8d7c6b')
const api_application_id = ApiApplicationId.parse('1e6f1c52-3c07-4f6a-9c1d-5b0a4a7e2b33')
const page = 'https://www.example.com'

const created = (scopes: Scope[], allowed_origins: string[] = []): ApiApplicationEvent => ({
  type: 'ApiApplicationCreated',
  organisation_id,
  api_application_id,
  name: 'Site',
  scopes,
  allowed_origins,
  secret_hash: 'one',
})
const changed = (name: string, scopes: Scope[], allowed_origins: string[] = []): ApiApplicationEvent => ({
  type: 'ApiApplicationChanged',
  api_application_id,
  name,
  scopes,
  allowed_origins,
})
const rotation = (secret_hash: string, former_ends_at: string | null = null): ApiApplicationEvent => ({
  type: 'ApiApplicationSecretRotated',
  api_application_id,
  secret_hash,
  former_ends_at,
})
const rotated = rotation('two')
const tomorrow = '2026-01-16T12:00:00.000Z'
const deleted: ApiApplicationEvent = { type: 'ApiApplicationDeleted', api_application_id }

const create = (scopes: readonly Scope[], allowed_origins: readonly string[] = []): ApiApplicationCommand => ({
  type: 'CreateApiApplication',
  organisation_id,
  api_application_id,
  name: 'Site',
  scopes,
  allowed_origins,
  secret_hash: 'one',
})
const change = (changes: object): ApiApplicationCommand => ({ type: 'ChangeApiApplication', ...changes })
const rotate: ApiApplicationCommand = {
  type: 'RotateApiApplicationSecret',
  secret_hash: 'two',
  former_ends_at: null,
}
const remove: ApiApplicationCommand = { type: 'DeleteApiApplication' }

const scenario = scenariosOf(apiApplication)

scenario('a server-only application may be given scopes read, write, crm, outcomes', {
  given: [],
  when: create(['outcomes', 'crm', 'write', 'read', 'read']),
  then: [created(['read', 'write', 'crm', 'outcomes'])],
})
scenario('a browser application may be given scopes read and write', {
  given: [],
  when: create(['read', 'write'], [page]),
  then: [created(['read', 'write'], [page])],
})
for (const scope of ['crm', 'outcomes'] as const)
  scenario(`a browser application cannot have the ${scope} scope`, {
    given: [],
    when: create(['read', scope], [page]),
    then: rejected('validation_failed', { scopes: `only read and write, not ${scope}` }),
  })
scenario('an application has at least one scope', {
  given: [],
  when: create([]),
  then: rejected('validation_failed', { scopes: 'at least one' }),
})
scenario('creating it again changes nothing', { given: [created(['read'])], when: create(['read']), then: [] })
scenario('an id is of one application only', {
  given: [created(['read'])],
  when: create(['read', 'write']),
  then: rejected('conflict', undefined, 'An API application with this id exists already.'),
})
for (const change of [{ name: 'Shop' }, { secret_hash: 'two' }, { scopes: ['write'] }])
  scenario(`an id is of one application only, so it is not created again with another ${Object.keys(change).join()}`, {
    given: [created(['read'])],
    when: { ...create(['read']), ...change } as ApiApplicationCommand,
    then: rejected('conflict'),
  })
scenario('an id is of one application only, so it is not created again for another page', {
  given: [created(['read'], [page])],
  when: create(['read'], ['https://shop.example.com']),
  then: rejected('conflict'),
})
scenario('every scope that a browser application cannot have is named', {
  given: [],
  when: create(['outcomes', 'read', 'crm'], [page]),
  then: rejected(
    'validation_failed',
    { scopes: 'a browser application can hold only read and write, not outcomes or crm' },
    'Correct scopes: a browser application can hold only read and write, not outcomes or crm.',
  ),
})
scenario('a deleted application can be created again', {
  given: [created(['read']), deleted],
  when: create(['write']),
  then: [created(['write'])],
})
scenario('nobody takes the id of another organisation’s application, not even of a deleted one', {
  given: [created(['read']), deleted],
  when: { ...create(['read']), organisation_id: someoneElse } as ApiApplicationCommand,
  then: rejected('conflict'),
})

scenario('origins are kept as a browser writes them, each once', {
  given: [],
  when: create(['read'], ['HTTPS://WWW.Example.com:443', page, 'http://localhost:3000', 'https://münchen.example']),
  then: [created(['read'], ['http://localhost:3000', page, 'https://xn--mnchen-3ya.example'].toSorted())],
})
for (const origin of [
  'https://www.example.com/',
  'https://www.example.com/quote',
  'https://www.example.com?',
  'https://www.example.com#top',
  'https://*.example.com',
  '*',
  'null',
  'www.example.com',
  'ftp://example.com',
  'https://user@example.com',
  'https://',
  'javascript:alert(1)',
])
  scenario(`an allowed origin is exact, not ${origin}`, {
    given: [],
    when: create(['read'], [page, origin]),
    then: rejected('validation_failed', { 'allowed_origins[1]': 'exact origin' }),
  })
for (const origin of ['http://localhost', 'http://127.0.0.1:8080', 'http://[::1]:8080'])
  scenario(`an allowed origin may be without TLS on this machine: ${origin}`, {
    given: [],
    when: create(['read'], [origin]),
    then: [created(['read'], [origin])],
  })
for (const origin of ['http://localhost.example.com', 'http://mylocalhost', 'http://127.0.0.1.example.com'])
  scenario(`an allowed origin elsewhere has TLS: ${origin}`, {
    given: [],
    when: create(['read'], [origin]),
    then: rejected('validation_failed', { 'allowed_origins[0]': 'https' }),
  })

scenario('only what is given changes', {
  given: [created(['read', 'write'])],
  when: change({ scopes: ['read'] }),
  then: [changed('Site', ['read'])],
})
scenario('a name alone can change', {
  given: [created(['read'])],
  when: change({ name: 'Shop' }),
  then: [changed('Shop', ['read'])],
})
scenario('the pages alone can change', {
  given: [created(['read'], [page])],
  when: change({ allowed_origins: ['https://shop.example.com'] }),
  then: [changed('Site', ['read'], ['https://shop.example.com'])],
})
scenario('a change to what is already so changes nothing', {
  given: [created(['read', 'write'], [page])],
  when: change({ name: 'Site', scopes: ['write', 'read'], allowed_origins: [`${page}:443`] }),
  then: [],
})
scenario('an application with the crm scope cannot become a browser application', {
  given: [created(['read', 'crm'])],
  when: change({ allowed_origins: [page] }),
  then: rejected('validation_failed', { scopes: 'not crm' }),
})
scenario('a browser application cannot be given the crm scope later', {
  given: [created(['read'], [page])],
  when: change({ scopes: ['read', 'crm'] }),
  then: rejected('validation_failed', { scopes: 'not crm' }),
})

scenario('a browser application, whose secret counts as public, never becomes a server-only one', {
  given: [created(['read'], [page])],
  when: change({ allowed_origins: [] }),
  then: rejected('validation_failed', { allowed_origins: 'create another' }),
})
scenario('a server-only application never becomes a browser application', {
  given: [created(['read'])],
  when: change({ allowed_origins: [page] }),
  then: rejected('validation_failed', { allowed_origins: 'create another' }),
})

scenario('the secret is rotated', { given: [created(['read'])], when: rotate, then: [rotated] })
scenario('the secret is rotated with an overlap', {
  given: [created(['read'])],
  when: { ...rotate, former_ends_at: tomorrow },
  then: [rotation('two', tomorrow)],
})
scenario('a secret is rotated once', { given: [created(['read']), rotated], when: rotate, then: [] })
scenario('an application is deleted', { given: [created(['read'])], when: remove, then: [deleted] })
scenario('a deleted application stays so', { given: [created(['read']), deleted], when: remove, then: [] })
scenario('a deleted application cannot change', {
  given: [created(['read']), deleted],
  when: change({ name: 'Other' }),
  then: rejected('not_found', undefined, 'This API application was deleted. Create another one.'),
})
scenario('a deleted application gets no secret', {
  given: [created(['read']), deleted],
  when: rotate,
  then: rejected('not_found'),
})
scenario('an application nobody created cannot change', {
  given: [],
  when: rotate,
  then: rejected('not_found', undefined, 'There is no API application with this id. Create it first.'),
})

test('an application is what was created and changed since, and each end of its tokens is counted', () => {
  const site = {
    id: api_application_id,
    organisation_id,
    name: 'Site',
    kind: 'browser',
    scopes: ['read', 'write'],
    allowed_origins: [page],
    secret_hash: 'one',
    former: null,
    epoch: 0,
    deleted: false,
  }
  const made = created(['read', 'write'], [page])
  const after = (...events: ApiApplicationEvent[]) => stateOf(apiApplication, [made, ...events])

  expect(after()).toEqual(site)
  expect(after(changed('Shop', ['read', 'write'], [page]))).toEqual({ ...site, name: 'Shop' })
  expect(after(changed('Site', ['read'], [page]))).toEqual({ ...site, scopes: ['read'], epoch: 1 })
  expect(after(rotated)).toEqual({ ...site, secret_hash: 'two', epoch: 1 })
  expect(after(rotated, deleted)).toEqual({ ...site, secret_hash: 'two', epoch: 2, deleted: true })
  expect(after(rotated, deleted, made)).toEqual({ ...site, epoch: 2 })
  expect(apiApplication.category).toBe('api_application')
})

test('of a rotation with an overlap the former secret stays, with the tokens issued with it', () => {
  const after = (...events: ApiApplicationEvent[]) =>
    stateOf(apiApplication, [created(['read', 'write']), rotation('two', tomorrow), ...events])
  const former = { secret_hash: 'one', epoch: 0, ends_at: tomorrow }

  expect(after()).toMatchObject({ secret_hash: 'two', epoch: 1, former })
  // Every token issued before is revoked, and both secrets give tokens without the scope.
  expect(after(changed('Site', ['read']))).toMatchObject({ epoch: 3, former: { ...former, epoch: 2 } })
  expect(after(rotation('three', tomorrow))).toMatchObject({
    secret_hash: 'three',
    epoch: 2,
    former: { secret_hash: 'two', epoch: 1 },
  })
  expect(after(rotation('three'))).toMatchObject({ epoch: 2, former: null })
  expect(after(deleted)).toMatchObject({ epoch: 2, former: null })
})

test('the former secret works until its end, and no longer', () => {
  const application = { former: { ends_at: tomorrow } }
  expect(formerInForce(application, Date.parse(tomorrow) - 1)).toBe(application.former)
  expect(formerInForce(application, Date.parse(tomorrow))).toBeUndefined()
  expect(formerInForce({ former: null }, 0)).toBeUndefined()
})

test('nothing is known of an application that was never created', () => {
  for (const event of [rotated, deleted, changed('Site', ['read'])])
    expect(foldApiApplication(undefined, event)).toBeUndefined()
})

test('an application is for servers or for web pages', () => {
  expect(ApplicationKind.options).toEqual(['server', 'browser'])
})

test.each([
  ['HTTPS://Example.COM:443', 'https://example.com'],
  ['http://example.com:80', 'http://example.com'],
  ['https://example.com:8443', 'https://example.com:8443'],
  ['https://exa mple.com', undefined],
  [' https://example.com', undefined],
  ['https://example.com ', undefined],
  ['https://example.com\\', undefined],
  ['', undefined],
])('the origin %j is %j', (text, origin) => {
  expect(originOf(text)).toBe(origin)
})
