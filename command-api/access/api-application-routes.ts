import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { apiApplication } from '#domain/access/api-application.ts'
import type { ApiApplication as ApiApplicationRecord } from '#domain/access/record.ts'
import { ApiApplicationId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { Problem } from '#infra/http/problem.ts'
import { route, type RequestFacts, type Route } from '#infra/http/route.ts'
import { generateSecret, hashSecret } from '#infra/crypto/secret-hash.ts'
import { commandHandler } from '../writing/handle.ts'
import { teamContext, impersonalRoute } from '../operator.ts'
import { OrganisationPath, type OrganisationDeps } from './organisation-routes.ts'
import {
  ApiApplication,
  ApiApplicationChanges,
  apiApplicationView,
  ApiApplicationWithSecret,
  NewApiApplication,
  SecretRotation,
} from './schemas.ts'
import { realNow } from '#infra/clock.ts'
import { derivedId } from '#infra/ids.ts'
import { keyInHeader } from '../idempotency-key.ts'

const ApplicationPath = OrganisationPath.extend({ client_id: ApiApplicationId })
type ApplicationPath = z.output<typeof ApplicationPath>

const OneApplication = z.object({ data: ApiApplication })
const OneWithSecret = z.object({ data: ApiApplicationWithSecret })

const applications = '/admin/v1/organisations/:organisation_id/api_applications'
const oneApplication = `${applications}/:client_id` as const

const noApplication = () => notFound('API application')

/** Its secret was shown in the answer to the first request, and cannot be shown again. */
const madeBefore = () =>
  new Problem(
    'idempotency_key_conflict',
    'An API application was made with this Idempotency-Key already. Replace its secret, or send another key.',
  )

export const apiApplicationRoutes = ({ writer, directory }: OrganisationDeps): Route[] => {
  const { handle, load } = commandHandler(writer, apiApplication)

  const change = async (
    { organisation_id, client_id }: ApplicationPath,
    command: Parameters<typeof handle>[1],
    facts: RequestFacts,
  ): Promise<ApiApplicationRecord> => {
    const known = await load(client_id)
    if (known && known.organisation_id !== organisation_id) throw noApplication()
    const { state } = await handle(client_id, command, teamContext(organisation_id, facts))
    if (!state) throw noApplication()
    return state
  }

  return [
    route(
      {
        ...impersonalRoute('owner', 'operator'),
        method: 'get',
        address: applications,
        summary: 'List the API applications of an organisation',
        path: OrganisationPath,
        answers: { 200: z.object({ data: z.array(ApiApplication) }) },
      },
      async ({ path }) => {
        const data = [...directory.applications.values()]
          .filter(({ organisation_id, deleted }) => organisation_id === path.organisation_id && !deleted)
          .toSorted((one, other) => one.name.localeCompare(other.name))
          .map(apiApplicationView)
        return { status: 200, body: { data } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner', 'operator'),
        method: 'post',
        address: applications,
        summary: 'Create an API application; its secret is shown once, in this answer',
        path: OrganisationPath,
        body: NewApiApplication,
        headers: {
          'Idempotency-Key': 'One API application for the same key. Again, it is refused: its secret is shown once.',
        },
        errors: ['conflict', 'idempotency_key_conflict'],
        answers: { 201: OneWithSecret },
      },
      async (request) => {
        const { organisation_id } = request.path
        const key = keyInHeader(request)
        const client_id = ApiApplicationId.parse(
          key === undefined ? uuidv7() : derivedId('api_application', organisation_id, key),
        )
        if (key !== undefined && (await load(client_id))) throw madeBefore()
        const client_secret = generateSecret()
        const secret_hash = await hashSecret(client_secret)
        const created = await change(
          { organisation_id, client_id },
          {
            type: 'CreateApiApplication',
            organisation_id,
            api_application_id: client_id,
            secret_hash,
            ...request.body,
          },
          request,
        )
        return { status: 201, body: { data: { ...apiApplicationView(created), client_secret } } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner', 'operator'),
        method: 'get',
        address: oneApplication,
        summary: 'Show an API application',
        path: ApplicationPath,
        answers: { 200: OneApplication },
      },
      async ({ path: { organisation_id, client_id } }) => {
        const found = directory.applications.get(client_id)
        if (!found || found.deleted || found.organisation_id !== organisation_id) throw noApplication()
        return { status: 200, body: { data: apiApplicationView(found) } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner', 'operator'),
        method: 'patch',
        address: oneApplication,
        summary: 'Change an API application: only the fields sent. Removing a scope revokes its tokens',
        path: ApplicationPath,
        body: ApiApplicationChanges,
        answers: { 200: OneApplication },
      },
      async (request) => {
        const changed = await change(request.path, { type: 'ChangeApiApplication', ...request.body }, request)
        return { status: 200, body: { data: apiApplicationView(changed) } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner', 'operator'),
        method: 'post',
        address: `${oneApplication}/rotate_secret`,
        summary:
          'Replace the secret, shown once, in this answer. The old one and every token end at once, or after overlap_seconds',
        path: ApplicationPath,
        body: SecretRotation,
        answers: { 200: OneWithSecret },
      },
      async (request) => {
        const client_secret = generateSecret()
        const secret_hash = await hashSecret(client_secret)
        const overlapMs = request.body.overlap_seconds * 1000
        const former_ends_at = overlapMs === 0 ? null : new Date(realNow() + overlapMs).toISOString()
        const command = { type: 'RotateApiApplicationSecret', secret_hash, former_ends_at } as const
        const rotated = await change(request.path, command, request)
        return { status: 200, body: { data: { ...apiApplicationView(rotated), client_secret } } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner', 'operator'),
        method: 'delete',
        address: oneApplication,
        summary: 'Delete an API application. Its tokens end at once',
        path: ApplicationPath,
        answers: { 200: z.object({ data: z.object({ client_id: ApiApplicationId, deleted: z.literal(true) }) }) },
      },
      async (request) => {
        const { id: client_id } = await change(request.path, { type: 'DeleteApiApplication' }, request)
        return { status: 200, body: { data: { client_id, deleted: true } } }
      },
    ),
  ]
}
