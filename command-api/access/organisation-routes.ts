import { z } from 'zod'
import { organisation } from '#domain/access/organisation.ts'
import { Organisation, type Directory } from '#domain/access/record.ts'
import { OrganisationId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { Problem } from '#infra/http/problem.ts'
import { route, type RequestFacts, type Route } from '#infra/http/route.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { teamContext, impersonalRoute } from '../operator.ts'
import { organisationIdOf } from './ids.ts'
import { NewOrganisation, OrganisationChanges } from './schemas.ts'

export type OrganisationDeps = { readonly writer: Writer; readonly directory: Directory }

export const OrganisationPath = z.object({ organisation_id: OrganisationId })

const OneOrganisation = z.object({ data: Organisation })

const organisations = '/admin/v1/organisations'
const oneOrganisation = `${organisations}/:organisation_id` as const

export const organisationRoutes = ({ writer, directory }: OrganisationDeps): Route[] => {
  const { handle } = commandHandler(writer, organisation)

  const change = async (
    { organisation_id }: z.output<typeof OrganisationPath>,
    command: Parameters<typeof handle>[1],
    facts: RequestFacts,
  ) => {
    const { state } = await handle(organisation_id, command, teamContext(organisation_id, facts))
    if (!state) throw notFound('organisation')
    return { data: state }
  }

  const refuseTakenSlug = (slug: string, id: OrganisationId) => {
    const holder = [...directory.organisations.values()].find((each) => each.slug === slug)
    if (holder && holder.id !== id)
      throw new Problem('conflict', `Another organisation has the slug ${slug}: ${holder.id}. Choose another slug.`)
  }

  return [
    route(
      {
        ...impersonalRoute('operator'),
        method: 'get',
        address: organisations,
        summary: 'List the organisations',
        answers: { 200: z.object({ data: z.array(Organisation) }) },
      },
      async () => {
        const data = [...directory.organisations.values()].toSorted((one, other) => one.slug.localeCompare(other.slug))
        return { status: 200, body: { data } }
      },
    ),
    route(
      {
        ...impersonalRoute('operator'),
        method: 'post',
        address: organisations,
        summary: 'Register an organisation',
        body: NewOrganisation,
        errors: ['conflict'],
        answers: { 201: OneOrganisation },
      },
      async (request) => {
        const { id, active, ...details } = request.body
        const organisation_id = id ?? organisationIdOf(details.slug)
        refuseTakenSlug(details.slug, organisation_id)
        const registered = await change(
          { organisation_id },
          { type: 'RegisterOrganisation', organisation_id, ...details },
          request,
        )
        const body = active
          ? registered
          : await change({ organisation_id }, { type: 'DeactivateOrganisation' }, request)
        return { status: 201, body }
      },
    ),
    route(
      {
        ...impersonalRoute('owner', 'leads', 'underwriting', 'policies', 'claims', 'finance', 'operator'),
        method: 'get',
        address: oneOrganisation,
        summary: 'Show an organisation',
        path: OrganisationPath,
        answers: { 200: OneOrganisation },
      },
      async ({ path: { organisation_id } }) => {
        const data = directory.organisations.get(organisation_id)
        if (!data) throw notFound('organisation')
        return { status: 200, body: { data } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner', 'operator'),
        method: 'patch',
        address: oneOrganisation,
        summary: 'Change an organisation: only the fields sent',
        path: OrganisationPath,
        body: OrganisationChanges,
        answers: { 200: OneOrganisation },
      },
      async (request) => {
        const body = await change(request.path, { type: 'ChangeOrganisation', ...request.body }, request)
        return { status: 200, body }
      },
    ),
    route(
      {
        ...impersonalRoute('operator'),
        method: 'post',
        address: `${oneOrganisation}/activate`,
        summary: 'Let the organisation’s applications call the API again',
        path: OrganisationPath,
        answers: { 200: OneOrganisation },
      },
      async (request) => {
        const body = await change(request.path, { type: 'ActivateOrganisation' }, request)
        return { status: 200, body }
      },
    ),
    route(
      {
        ...impersonalRoute('operator'),
        method: 'post',
        address: `${oneOrganisation}/deactivate`,
        summary: 'Answer every API request of the organisation’s applications with 403, at once',
        path: OrganisationPath,
        answers: { 200: OneOrganisation },
      },
      async (request) => {
        const body = await change(request.path, { type: 'DeactivateOrganisation' }, request)
        return { status: 200, body }
      },
    ),
  ]
}
