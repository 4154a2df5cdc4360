import { expect, test } from 'vitest'
import type { ApiApplicationEvent, OrganisationEvent } from '#domain/access/events.ts'
import { directoryFold, emptyDirectory } from '#domain/access/record.ts'
import { ApiApplicationId, OrganisationId } from '#domain/values.ts'

const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const site = ApiApplicationId.parse('1e6f1c52-3c07-4f6a-9c1d-5b0a4a7e2b33')
const shop = ApiApplicationId.parse('3f1b6f0a-1c55-4e4c-9b1e-2d4a7b1a9f77')
const page = 'https://www.example.com'
const other = 'https://shop.example.com'

type Event = OrganisationEvent | ApiApplicationEvent

const streamOf = (event: Event) =>
  'api_application_id' in event
    ? `api_application-${event.api_application_id}`
    : `organisation-${event.organisation_id}`

/** What a process knows after these events, of which each may come again. */
const directoryOf = (events: readonly Event[], repeated = false) => {
  const directory = emptyDirectory()
  const revisions = new Map<string, number>()
  const recorded = events.map((event) => {
    const stream = streamOf(event)
    const revision = (revisions.get(stream) ?? -1) + 1
    revisions.set(stream, revision)
    return [event, { stream, revision }] as const
  })
  for (const [event, place] of repeated ? [...recorded, ...recorded] : recorded)
    directoryFold.apply(directory, event, place)
  return directory
}

const created = (id: ApiApplicationId, allowed_origins: string[] = []): Event => ({
  type: 'ApiApplicationCreated',
  organisation_id,
  api_application_id: id,
  name: 'Site',
  scopes: ['read', 'write'],
  allowed_origins,
  secret_hash: 'one',
})
const changed = (scopes: ('read' | 'write' | 'crm')[], allowed_origins: string[] = []): Event => ({
  type: 'ApiApplicationChanged',
  api_application_id: site,
  name: 'Site',
  scopes,
  allowed_origins,
})
const rotated: Event = {
  type: 'ApiApplicationSecretRotated',
  api_application_id: site,
  secret_hash: 'two',
  former_ends_at: null,
}
const deleted = (api_application_id: ApiApplicationId): Event => ({ type: 'ApiApplicationDeleted', api_application_id })

const epochAfter = (...events: Event[]) => directoryOf(events).applications.get(site)?.epoch

test('tokens end when the secret is rotated, a scope removed or the application deleted, and not otherwise', () => {
  const before = epochAfter(created(site))

  expect(epochAfter(created(site), rotated)).not.toBe(before)
  expect(epochAfter(created(site), changed(['read']))).not.toBe(before)
  expect(epochAfter(created(site), changed(['read', 'crm']))).not.toBe(before)
  expect(epochAfter(created(site), deleted(site))).not.toBe(before)
  expect(epochAfter(created(site), changed(['read', 'write', 'crm']))).toBe(before)
  expect(epochAfter(created(site), changed(['read', 'write'], [page]))).toBe(before)
})

test('an application created again does not bring the tokens of the deleted one back', () => {
  expect(epochAfter(created(site), deleted(site), created(site))).not.toBe(epochAfter(created(site)))
})

test('a scope that was removed and given again does not bring the tokens back', () => {
  expect(epochAfter(created(site), changed(['read']), changed(['read', 'write']))).not.toBe(epochAfter(created(site)))
})

const details = { name: 'Acme', currency_code: 'GBP', time_zone: 'UTC', stripe_test_mode: false }
const organisation: Event[] = [
  { type: 'OrganisationRegistered', organisation_id, slug: 'acme', ...details },
  { type: 'OrganisationDeactivated', organisation_id },
]

test('the organisations that were registered are known, and those only', () => {
  const { organisations, applications } = directoryOf(organisation)

  expect([...organisations]).toEqual([
    [organisation_id, { id: organisation_id, slug: 'acme', ...details, active: false }],
  ])
  expect(applications.size).toBe(0)
  expect(directoryOf([{ type: 'OrganisationActivated', organisation_id }]).organisations.size).toBe(0)
})

test('an application that was never created is not known', () => {
  expect(directoryOf([rotated]).applications.size).toBe(0)
})

test('it is made of the streams of organisations and API applications', () => {
  expect(directoryFold.categories).toEqual(['organisation', 'api_application'])
})

test('an event that the log gives twice counts once', () => {
  const history = [created(site, [page]), rotated, changed(['read'], [page]), deleted(site), created(site, [page])]

  expect(directoryOf([...organisation, ...history], true)).toEqual(directoryOf([...organisation, ...history]))
})

test('an origin is allowed as long as one browser application allows it', () => {
  const both = [created(site, [page, other]), created(shop, [page])]

  expect([...directoryOf(both).origins.keys()]).toEqual([page, other])
  expect([...directoryOf([...both, deleted(site)]).origins.keys()]).toEqual([page])
  expect([...directoryOf([...both, changed(['read'])]).origins.keys()]).toEqual([page])
  expect([...directoryOf([...both, deleted(site), deleted(shop)]).origins.keys()]).toEqual([])
})

test('a browser application is one that has allowed origins', () => {
  const kindAfter = (...events: Event[]) => directoryOf(events).applications.get(site)?.kind

  expect(kindAfter(created(site))).toBe('server')
  expect(kindAfter(created(site), changed(['read'], [page]))).toBe('browser')
})
