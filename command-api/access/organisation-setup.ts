import { organisation, type OrganisationCommand } from '#domain/access/organisation.ts'
import type { Organisation } from '#domain/access/record.ts'
import type { OrganisationId } from '#domain/values.ts'
import { commandHandler, type Context } from '../writing/handle.ts'
import type { SetupContext, SetupStep, Whole } from '../setup-file/section.ts'
import { differences, orSay, unchanged } from './declared.ts'
import { organisationIdOf } from './ids.ts'
import type { OrganisationDeps } from './organisation-routes.ts'
import { NewOrganisation, type DeclaredOrganisation } from './schemas.ts'

type Refuse = SetupContext['refuse']

type Details = Pick<Organisation, 'name' | 'currency_code' | 'time_zone' | 'stripe_test_mode'>

type PlannedOrganisation = {
  readonly organisation_id: OrganisationId
  readonly details: Details
  readonly step: SetupStep
}

/** Details that the file leaves out stay as they are. */
const detailsOf = (declared: DeclaredOrganisation, existing: Organisation | undefined): Details => {
  const { currency_code, time_zone, stripe_test_mode } = existing ?? NewOrganisation.parse(declared)
  return {
    name: declared.name,
    currency_code: declared.currency_code ?? currency_code,
    time_zone: declared.time_zone ?? time_zone,
    stripe_test_mode: declared.stripe_test_mode ?? stripe_test_mode,
  }
}

/** An organisation as a file declares it. An active one need not say so: that is for the operator to say. */
export const writtenOrganisation = ({ id, slug, active, ...details }: Organisation): Whole<DeclaredOrganisation> => ({
  id: id === organisationIdOf(slug) ? undefined : id,
  slug,
  ...details,
  active: active ? undefined : false,
})

const shown = ['name', 'currency_code', 'time_zone', 'stripe_test_mode', 'active'] as const

const commandsFor = (
  { slug, active }: Pick<DeclaredOrganisation, 'slug' | 'active'>,
  details: Details,
  organisation_id: OrganisationId,
  existing: Organisation | undefined,
): readonly [OrganisationCommand, ...OrganisationCommand[]] => {
  const first: OrganisationCommand = existing
    ? { type: 'ChangeOrganisation', ...details }
    : { type: 'RegisterOrganisation', organisation_id, slug, ...details }
  // Whether it is active changes only where the file says so: the operator may have switched it off.
  if (active === undefined || active === (existing?.active ?? true)) return [first]
  return [first, { type: active ? 'ActivateOrganisation' : 'DeactivateOrganisation' }]
}

/** Holds the organisation that a set-up file declares against what there is. */
export const organisationPlanner = ({ writer, directory }: OrganisationDeps) => {
  const { handle, load, preview } = commandHandler(writer, organisation)

  const idFor = ({ id, slug }: DeclaredOrganisation, refuse: Refuse): OrganisationId => {
    const holder = [...directory.organisations.values()].find((each) => each.slug === slug)
    if (id && holder && holder.id !== id) return refuse(['slug'], `is that of another organisation, ${holder.id}`)
    return id ?? holder?.id ?? organisationIdOf(slug)
  }

  return async (
    declared: DeclaredOrganisation,
    context: Omit<Context, 'organisation_id'>,
    refuse: Refuse,
  ): Promise<PlannedOrganisation> => {
    const organisation_id = idFor(declared, refuse)
    const existing = await load(organisation_id)
    if (existing && existing.slug !== declared.slug) refuse(['slug'], `cannot change: it is ${existing.slug}`)

    const details = detailsOf(declared, existing)
    const commands = commandsFor(declared, details, organisation_id, existing)
    const decided = await orSay(refuse, async () => preview(organisation_id, commands[0]))
    const what = `organisation ${declared.slug}`
    if (decided.length === 0 && commands.length === 1) return { organisation_id, details, step: unchanged(what) }

    const apply = async () => {
      for (const command of commands) await handle(organisation_id, command, { ...context, organisation_id })
    }
    if (!existing) return { organisation_id, details, step: { what, change: 'create', details: [], apply } }
    const after = { ...existing, ...details, active: declared.active ?? existing.active }
    return {
      organisation_id,
      details,
      step: { what, change: 'change', details: differences(existing, after, shown), apply },
    }
  }
}
