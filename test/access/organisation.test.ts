import { expect, test } from 'vitest'
import type { OrganisationEvent } from '#domain/access/events.ts'
import { organisation, type OrganisationCommand } from '#domain/access/organisation.ts'
import { foldOrganisation, Organisation } from '#domain/access/record.ts'
import { OrganisationId } from '#domain/values.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'

const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const details = { name: 'Acme Cover', currency_code: 'GBP', time_zone: 'Europe/London', stripe_test_mode: true }

const registered: OrganisationEvent = { type: 'OrganisationRegistered', organisation_id, slug: 'acme', ...details }
const activated: OrganisationEvent = { type: 'OrganisationActivated', organisation_id }
const deactivated: OrganisationEvent = { type: 'OrganisationDeactivated', organisation_id }
const renamed: OrganisationEvent = { type: 'OrganisationChanged', organisation_id, ...details, name: 'Acme' }

const register: OrganisationCommand = { type: 'RegisterOrganisation', organisation_id, slug: 'acme', ...details }
const activate: OrganisationCommand = { type: 'ActivateOrganisation' }
const deactivate: OrganisationCommand = { type: 'DeactivateOrganisation' }
const rename: OrganisationCommand = { type: 'ChangeOrganisation', name: 'Acme' }

const scenario = scenariosOf(organisation)

scenario('an organisation is registered', { given: [], when: register, then: [registered] })
scenario('registering it again changes nothing', { given: [registered], when: register, then: [] })
scenario('nobody registers another organisation with its id', {
  given: [registered],
  when: { ...register, slug: 'other' },
  then: rejected('conflict', undefined, 'An organisation with this id exists already: acme. Change that one.'),
})
scenario('a time zone is one of the IANA', {
  given: [],
  when: { ...register, time_zone: 'Europe/Camelot' },
  then: rejected('validation_failed', { time_zone: 'IANA' }, 'Correct time_zone and send the request again.'),
})

scenario('only what is given changes', { given: [registered], when: rename, then: [renamed] })
scenario('the same change again changes nothing', { given: [registered, renamed], when: rename, then: [] })
scenario('a change keeps to known time zones', {
  given: [registered],
  when: { type: 'ChangeOrganisation', time_zone: 'Mars/Olympus' },
  then: rejected('validation_failed', { time_zone: 'IANA' }),
})

scenario('an organisation is active from the start', { given: [registered], when: activate, then: [] })
scenario('an organisation is deactivated', { given: [registered], when: deactivate, then: [deactivated] })
scenario('an inactive organisation stays so', { given: [registered, deactivated], when: deactivate, then: [] })
scenario('an inactive organisation is activated', {
  given: [registered, deactivated],
  when: activate,
  then: [activated],
})
scenario('an organisation nobody registered cannot change', {
  given: [],
  when: rename,
  then: rejected('not_found', undefined, 'There is no organisation with this id. Register it first.'),
})

for (const change of [
  { name: 'Acme' },
  { currency_code: 'EUR' },
  { time_zone: 'Europe/Paris' },
  { stripe_test_mode: false },
] satisfies Partial<typeof details>[]) {
  const [field = ''] = Object.keys(change)
  scenario(`${field} alone can change`, {
    given: [registered],
    when: { type: 'ChangeOrganisation', ...change },
    then: [{ type: 'OrganisationChanged', organisation_id, ...details, ...change }],
  })
  scenario(`nobody registers an organisation again with another ${field}`, {
    given: [registered],
    when: { ...register, ...change },
    then: rejected('conflict'),
  })
}

test('an organisation is what was registered and changed since, active or not', () => {
  const acme = { id: organisation_id, slug: 'acme', ...details, active: true }

  expect(stateOf(organisation, [registered])).toEqual(acme)
  expect(stateOf(organisation, [registered, renamed])).toEqual({ ...acme, name: 'Acme' })
  expect(stateOf(organisation, [registered, deactivated])).toEqual({ ...acme, active: false })
  expect(stateOf(organisation, [registered, deactivated, activated])).toEqual(acme)
  expect(Organisation.parse(acme)).toEqual(acme)
  expect(Organisation.safeParse({}).success).toBe(false)
  expect(organisation.category).toBe('organisation')
})

test('nothing is known of an organisation that was never registered', () => {
  for (const event of [renamed, activated, deactivated]) expect(foldOrganisation(undefined, event)).toBeUndefined()
})
