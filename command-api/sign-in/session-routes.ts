import { createHash } from 'node:crypto'
import { z } from 'zod'
import { isOver, isUserInForce } from '#domain/users/record.ts'
import { OrganisationId, UserId, UserRole } from '#domain/values.ts'
import { Problem } from '#infra/http/problem.ts'
import { route, sessionRoute, signInRoute, type RequestFacts, type Route } from '#infra/http/route.ts'
import type { Session } from '#infra/http/sessions.ts'
import type { TeamUser } from '#infra/http/team.ts'
import { makeTeam, realNow } from '../users/team.ts'
import { makeStartSession, type SessionDeps } from './start-session.ts'

export const sessionAddress = '/admin/v1/session'

const SignedInUser = z.object({
  id: UserId,
  organisation_id: OrganisationId.nullable().describe('Null: of the installation.'),
  name: z.string(),
  email: z.string(),
  roles: z.array(UserRole).describe('Those of the session, where a provider has named them.'),
  sees_personal_data: z.boolean(),
})

const SignedIn = z
  .object({
    user: SignedInUser.nullable(),
    program: z.string().nullable().describe('The name of the operator key that was sent.'),
    session: z
      .object({
        signed_in_by: z.enum(['key', 'provider']),
        started_at: z.iso.datetime(),
        ends_at: z.iso.datetime().describe('At the latest: it ends after eight hours without a request.'),
      })
      .nullable()
      .describe('Null: a key was sent.'),
  })
  .meta({ id: 'SignedIn' })

const shownSession = ({ basis, started_at, ends_at }: Session) => ({
  signed_in_by: 'key_digest' in basis ? ('key' as const) : ('provider' as const),
  started_at,
  ends_at,
})

const byKey = { method: 'POST', route: sessionAddress }

const keyIsNobodys = () =>
  new Problem('invalid_token', 'This is no key of a user, or one that has ended. Ask an owner for another.')

/** Users in their browsers: signing in by a key, signing out, and who one is. */
export const sessionRoutes = (deps: SessionDeps): Route[] => {
  const { sessions, users } = deps
  const { load } = makeTeam(deps)
  const { requireAdmitted, start } = makeStartSession(deps)

  const shownUser = async ({ id, organisation_id, roles, sees_personal_data }: TeamUser) => {
    const state = await load(id)
    const { name = '', email = '' } = state ?? {}
    return { id, organisation_id, name, email, roles: [...roles], sees_personal_data }
  }

  const who = async ({ user, operator, session }: Pick<RequestFacts, 'user' | 'operator' | 'session'>) => ({
    data: {
      user: user ? await shownUser(user) : null,
      program: operator ?? null,
      session: session ? shownSession(session) : null,
    },
  })

  return [
    route(
      {
        ...signInRoute,
        method: 'post',
        address: sessionAddress,
        summary: 'Sign in with a key of a user',
        body: z.object({ key: z.string().min(1).max(200) }),
        answers: { 201: z.object({ data: z.object({ user: SignedInUser }) }) },
        errors: ['invalid_token', 'forbidden'],
      },
      async (request) => {
        const key_digest = createHash('sha256').update(request.body.key).digest('hex')
        const key = users.keys.get(key_digest)
        const user = key && !isOver(key.ends_at, realNow()) ? users.users.get(key.user_id) : undefined
        if (!user || !isUserInForce(user, realNow())) throw keyIsNobodys()
        await requireAdmitted(user)
        const cookie = await start(user, { key_digest }, request, byKey)
        return {
          status: 201,
          body: { data: { user: await shownUser(user) } },
          headers: { 'Set-Cookie': cookie },
        }
      },
    ),
    route(
      {
        ...sessionRoute,
        method: 'get',
        address: sessionAddress,
        summary: 'Show who is signed in, or whose key is sent',
        answers: { 200: z.object({ data: SignedIn }) },
        errors: ['invalid_token', 'forbidden'],
      },
      async (request) => {
        if (!request.user && request.operator === undefined)
          throw new Problem('invalid_token', 'Nobody is signed in, or the session is over. Sign in again.')
        return { status: 200, body: await who(request) }
      },
    ),
    route(
      {
        ...sessionRoute,
        method: 'delete',
        address: sessionAddress,
        summary: 'Sign out. Signing out again is fine',
        answers: { 200: z.object({ data: z.object({ signed_out: z.boolean() }) }) },
        errors: ['forbidden'],
      },
      async ({ header }) => {
        const { wasThere, clear } = await sessions.end(header('cookie'))
        return { status: 200, body: { data: { signed_out: wasThere } }, headers: { 'Set-Cookie': clear } }
      },
    ),
  ]
}
