import type { Decider } from '../decider.ts'
import { Rejection } from '../rejection.ts'
import type { OrganisationId } from '../values.ts'
import { organisationEvents, type OrganisationEvent } from './events.ts'
import { foldOrganisation, type Organisation } from './record.ts'

type Details = Pick<Organisation, 'name' | 'currency_code' | 'time_zone' | 'stripe_test_mode'>

type Given<Fields> = { [Name in keyof Fields]?: Fields[Name] | undefined }

export type OrganisationCommand =
  | ({ type: 'RegisterOrganisation'; organisation_id: OrganisationId; slug: string } & Details)
  /** A field that is left out stays. */
  | ({ type: 'ChangeOrganisation' } & Given<Details>)
  | { type: 'ActivateOrganisation' }
  | { type: 'DeactivateOrganisation' }

type Command<Type> = Extract<OrganisationCommand, { type: Type }>
type Decision = readonly OrganisationEvent[]

const decide = (command: OrganisationCommand, organisation?: Organisation): Decision => {
  if (command.type === 'RegisterOrganisation') return register(command, organisation)
  if (!organisation) throw new Rejection('not_found', 'There is no organisation with this id. Register it first.')

  const { id: organisation_id, active } = organisation
  switch (command.type) {
    case 'ChangeOrganisation':
      return change(command, organisation)
    case 'ActivateOrganisation':
      return active ? [] : [{ type: 'OrganisationActivated', organisation_id }]
    case 'DeactivateOrganisation':
      return active ? [{ type: 'OrganisationDeactivated', organisation_id }] : []
  }
}

const detailsOf = ({ name, currency_code, time_zone, stripe_test_mode }: Details): Details => {
  refuseUnknownTimeZone(time_zone)
  return { name, currency_code, time_zone, stripe_test_mode }
}

const isSame = (one: Details, other: Details): boolean =>
  one.name === other.name &&
  one.currency_code === other.currency_code &&
  one.time_zone === other.time_zone &&
  one.stripe_test_mode === other.stripe_test_mode

const register = (command: Command<'RegisterOrganisation'>, existing?: Organisation): Decision => {
  const { organisation_id, slug } = command
  const details = detailsOf(command)
  if (!existing) return [{ type: 'OrganisationRegistered', organisation_id, slug, ...details }]
  if (existing.slug === slug && isSame(existing, details)) return []
  throw new Rejection('conflict', `An organisation with this id exists already: ${existing.slug}. Change that one.`)
}

const change = (command: Command<'ChangeOrganisation'>, organisation: Organisation): Decision => {
  const details = detailsOf({
    name: command.name ?? organisation.name,
    currency_code: command.currency_code ?? organisation.currency_code,
    time_zone: command.time_zone ?? organisation.time_zone,
    stripe_test_mode: command.stripe_test_mode ?? organisation.stripe_test_mode,
  })
  return isSame(organisation, details)
    ? []
    : [{ type: 'OrganisationChanged', organisation_id: organisation.id, ...details }]
}

const refuseUnknownTimeZone = (time_zone: string): void => {
  try {
    Intl.DateTimeFormat('en', { timeZone: time_zone })
  } catch {
    const reason = 'is not an IANA time zone such as Europe/London'
    throw new Rejection('validation_failed', 'Correct time_zone and send the request again.', { time_zone: reason })
  }
}

export const organisation: Decider<OrganisationCommand, typeof organisationEvents, Organisation | undefined> = {
  category: 'organisation',
  events: organisationEvents,
  initialState: undefined,
  decide,
  evolve: foldOrganisation,
}
