import { z } from 'zod'
import { programme, type ProgrammeChoices } from '#domain/loyalty/programme.ts'
import { Programme, programmesOf, renderMembership, ShownMembership } from '#domain/loyalty/record.ts'
import { CustomerId, OrganisationId, ProgrammeId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { Problem } from '#infra/http/problem.ts'
import { route, type Route } from '#infra/http/route.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { teamContext, impersonalRoute, teamRoute } from '../operator.ts'
import { chosen, DeclaredProgramme } from './declared.ts'
import { membershipIdOf, programmeIdOf } from './ids.ts'
import type { Memberships } from './memberships.ts'

type Deps = {
  readonly writer: Writer
  readonly programmes: ReadonlyMap<string, Programme>
  readonly memberships: Memberships
  readonly isPerson: IsPerson
}

/** True for a person of the organisation who was not erased. */
export type IsPerson = (organisation_id: OrganisationId, id: CustomerId) => Promise<boolean>

const programmesAddress = '/admin/v1/organisations/:organisation_id/programmes' as const
const oneProgramme = `${programmesAddress}/:programme_id` as const

const OrganisationPath = z.object({ organisation_id: OrganisationId })
const ProgrammePath = OrganisationPath.extend({ programme_id: ProgrammeId })
const OneProgramme = z.object({ data: Programme })

const Enrolment = z.object({
  policy_number: z.string().trim().min(1).max(100),
  customer_id: CustomerId.nullable().default(null).describe('The member, where there is a customer record.'),
})

const noProgramme = () => notFound('programme')

/** The operator's routes for loyalty programmes and their members. */
export const programmeRoutes = ({ writer, programmes, memberships, isPerson }: Deps): Route[] => {
  const { handle, load } = commandHandler(writer, programme)

  return [
    route(
      {
        ...impersonalRoute('owner', 'policies'),
        method: 'get',
        address: programmesAddress,
        summary: 'List the loyalty programmes of an organisation',
        path: OrganisationPath,
        answers: { 200: z.object({ data: z.array(Programme).readonly() }) },
      },
      async ({ path: { organisation_id } }) => {
        return { status: 200, body: { data: programmesOf(programmes, organisation_id) } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'post',
        address: programmesAddress,
        summary: 'Create a loyalty programme',
        path: OrganisationPath,
        body: DeclaredProgramme,
        errors: ['conflict'],
        answers: { 201: OneProgramme },
      },
      async ({ path: { organisation_id }, body: { slug, ...choices }, ...facts }) => {
        const programme_id = programmeIdOf(organisation_id, slug)
        const command = { type: 'CreateProgramme', programme_id, organisation_id, slug, choices } as const
        const { state } = await handle(programme_id, command, teamContext(organisation_id, facts))
        if (!state) throw noProgramme()
        return { status: 201, body: { data: state } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'patch',
        address: oneProgramme,
        summary: 'Change a loyalty programme: only the fields sent. A running cycle ends as it was to end',
        path: ProgrammePath,
        body: z.object(chosen).partial(),
        answers: { 200: OneProgramme },
      },
      async ({ path: { organisation_id, programme_id }, body: { name, tiers, cycle, products }, ...facts }) => {
        const known = await load(programme_id)
        if (known?.organisation_id !== organisation_id) throw noProgramme()
        const choices: Partial<ProgrammeChoices> = {
          ...(name !== undefined && { name }),
          ...(tiers && { tiers }),
          ...(cycle && { cycle }),
          ...(products && { products }),
        }
        const command = { type: 'ChangeProgramme', choices } as const
        const { state } = await handle(programme_id, command, teamContext(organisation_id, facts))
        return { status: 200, body: { data: state ?? known } }
      },
    ),
    route(
      {
        ...teamRoute('policies'),
        method: 'post',
        address: `${oneProgramme}/memberships`,
        summary: 'Enrol a policy in a programme: the partner confirms the membership. Again, it changes nothing',
        path: ProgrammePath,
        body: Enrolment,
        answers: { 201: z.object({ data: ShownMembership }) },
      },
      async ({ path: { organisation_id, programme_id }, body: { policy_number, customer_id }, ...facts }) => {
        const known = await load(programme_id)
        if (known?.organisation_id !== organisation_id) throw noProgramme()
        if (customer_id !== null && !(await isPerson(organisation_id, customer_id)))
          throw new Problem('validation_failed', 'There is no such person. Send the id of one of the organisation.', {
            fields: { customer_id: 'is no person of the organisation' },
          })
        const membership_id = membershipIdOf(organisation_id, programme_id, policy_number)
        const command = {
          type: 'Enrol',
          membership_id,
          organisation_id,
          programme_id,
          customer_id,
          policy_id: null,
          policy_number,
        } as const
        const { state } = await memberships.handle(membership_id, command, teamContext(organisation_id, facts))
        if (!state.membership) throw notFound('membership')
        return { status: 201, body: { data: renderMembership(state.membership, known) } }
      },
    ),
  ]
}
