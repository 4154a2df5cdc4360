import type { OrganisationEvent } from '#domain/access/events.ts'
import { organisation, type OrganisationCommand } from '#domain/access/organisation.ts'
import { OrganisationId } from '#domain/values.ts'
import { rejected, scenariosOf } from '../scenario.ts'

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
  then: rejected('conflict'),
})
scenario('a time zone is one of the IANA', {
  given: [],
  when: { ...register, time_zone: 'Europe/Camelot' },
  then: rejected('validation_failed', { time_zone: 'IANA' }),
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
scenario('an organisation nobody registered cannot change', { given: [], when: rename, then: rejected('not_found') })
