import { z } from 'zod'
import { providersOf } from '#domain/sign-in/record.ts'
import { notFound } from '#domain/rejection.ts'
import { OrganisationId } from '#domain/values.ts'
import { route, type RequestFacts, type Route } from '#infra/http/route.ts'
import { impersonalRoute, teamSender } from '../operator.ts'
import { mayWait } from '../waiting.ts'
import type { Context } from '../writing/handle.ts'
import {
  GivenProvider,
  makeProviders,
  providerIdOf,
  ProviderName,
  ShownProvider,
  shownProvider,
  type ProviderDeps,
} from './providers.ts'

const places = {
  organisation: {
    address: '/admin/v1/organisations/:organisation_id/sign_in_providers',
    team: impersonalRoute('owner', 'operator'),
    path: z.object({ organisation_id: OrganisationId }),
    of: 'an organisation',
  },
  installation: {
    address: '/admin/v1/sign_in_providers',
    team: impersonalRoute('operator'),
    path: z.object({}),
    of: 'the installation',
  },
} as const

/** The providers by which the people of a team sign in. */
export const signInProviderRoutes = (deps: ProviderDeps): Route[] => [
  ...routesAt('organisation', deps),
  ...routesAt('installation', deps),
]

const routesAt = (kind: keyof typeof places, deps: ProviderDeps): Route[] => {
  const { address, team, path, of } = places[kind]
  const { handle, commandFor } = makeProviders(deps)
  const onePath = path.extend({ provider_name: ProviderName })
  const one = `${address}/:provider_name`
  const teamIn = (given: object) =>
    kind === 'organisation' ? places.organisation.path.parse(given).organisation_id : null
  const context = (given: object, facts: RequestFacts): Context => ({
    organisation_id: teamIn(given),
    ...teamSender(facts),
    correlation_id: facts.request_id,
    now: facts.now,
  })

  return [
    route(
      {
        ...team,
        method: 'get',
        address,
        summary: `List the providers by which users of ${of} sign in, without their secrets`,
        path,
        answers: { 200: z.object({ data: z.array(ShownProvider) }) },
      },
      async (request) => ({
        status: 200,
        body: { data: providersOf(deps.signInProviders, teamIn(request.path)).map(shownProvider) },
      }),
    ),
    route(
      {
        ...team,
        method: 'put',
        address: one,
        summary: `Set a provider by which users of ${of} sign in. Whoever signed in by what it replaces is signed out`,
        path: onePath,
        body: GivenProvider[kind],
        answers: { 200: z.object({ data: ShownProvider }), ...(kind === 'organisation' && mayWait) },
        errors: ['conflict'],
      },
      async (request) => {
        const { provider_name: name } = request.path
        const command = await commandFor(teamIn(request.path), name, request.body)
        const { state } = await handle(
          providerIdOf(teamIn(request.path), name),
          command,
          context(request.path, request),
        )
        if (!state) throw notFound('sign-in provider')
        return { status: 200, body: { data: shownProvider(state) } }
      },
    ),
    route(
      {
        ...team,
        method: 'delete',
        address: one,
        summary: `Remove a provider by which users of ${of} sign in, and sign out who did. Removing it again is fine`,
        path: onePath,
        answers: { 200: z.object({ data: z.object({ removed: z.boolean() }) }) },
      },
      async (request) => {
        const sign_in_provider_id = providerIdOf(teamIn(request.path), request.path.provider_name)
        const command = { type: 'RemoveSignInProvider', sign_in_provider_id } as const
        const { events } = await handle(sign_in_provider_id, command, context(request.path, request))
        return { status: 200, body: { data: { removed: events.length > 0 } } }
      },
    ),
  ]
}
