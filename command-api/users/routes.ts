import { createHash } from 'node:crypto'
import { z } from 'zod'
import { UserKeyId } from '#domain/users/events.ts'
import { teamOf, type KnownUser, type User as UserRecord } from '#domain/users/record.ts'
import { makersOf } from '#domain/makers.ts'
import { mostKeys } from '#domain/users/user.ts'
import { OrganisationId, UserId } from '#domain/values.ts'
import { generateSecret } from '#infra/crypto/secret-hash.ts'
import { installationKeys } from '#infra/crypto/subjects.ts'
import { cursorOf, readCursorAs } from '#infra/http/cursor.ts'
import { notFound } from '#domain/rejection.ts'
import { route, type RequestFacts, type Route } from '#infra/http/route.ts'
import { newId } from '#infra/ids.ts'
import { teamRoute, teamSender } from '../operator.ts'
import { pageParameters } from '../page.ts'
import type { Context } from '../writing/handle.ts'
import {
  InvitedUser,
  NewUser,
  NewUserKey,
  User,
  UserChanges,
  UserKeyRotation,
  userView,
  UserWithKey,
} from './inputs.ts'
import { makeTeam, mostUsers, realNow, type Team, type UserDeps } from './team.ts'

const Limits = z.object({
  users: z.int().describe('Of one organisation, those who have ended included and those who were erased not.'),
  keys_of_a_user: z.int().describe('Those that have not ended.'),
})

const List = z.object({ data: z.array(User), next_cursor: z.string().nullable(), limits: Limits })
const OneUser = z.object({ data: User })
const Invited = z.object({ data: InvitedUser })
const OneWithKey = z.object({ data: UserWithKey })

/** Where the users of a team are: those of an organisation, or of the installation. */
const places = {
  organisation: {
    address: '/admin/v1/organisations/:organisation_id/users',
    team: teamRoute('owner', 'operator'),
    everybody: teamRoute('owner', 'leads', 'underwriting', 'policies', 'claims', 'finance', 'operator'),
    path: z.object({ organisation_id: OrganisationId }),
    of: 'an organisation',
  },
  installation: {
    address: '/admin/v1/users',
    team: teamRoute('operator'),
    everybody: teamRoute('operator'),
    path: z.object({}),
    of: 'the installation',
  },
} as const

const Place = z.tuple([z.iso.datetime(), UserId])

/** In the order in which they were added. */
const cursorPlace = ({ added_at, id }: KnownUser): readonly [string, string] => [added_at, id]

const isBefore = ([one, oneId]: readonly [string, string], [other, otherId]: readonly [string, string]): boolean =>
  one < other || (one === other && oneId < otherId)

/** People of the team, each with keys of their own. */
export const userRoutes = (deps: UserDeps): Route[] => [
  ...routesAt('organisation', deps),
  ...routesAt('installation', deps),
]

const routesAt = (kind: keyof typeof places, deps: UserDeps): Route[] => [
  ...shownRoutes(kind, deps),
  ...changeRoutes(kind, deps),
  ...endRoutes(kind, deps),
  ...keyRoutes(kind, deps),
  invitationRoute(kind, deps),
]

/** The common parts of the routes of one place. */
const makePlace = (kind: keyof typeof places, deps: UserDeps) => {
  const { address, team, everybody, path, of } = places[kind]
  const { load } = makeTeam(deps)
  const teamIn = (given: object): Team =>
    kind === 'organisation' ? places.organisation.path.parse(given).organisation_id : null

  return {
    address,
    one: `${address}/:user_id`,
    team,
    everybody,
    path,
    of,
    userPath: path.extend({ user_id: UserId }),
    keyPath: path.extend({ user_id: UserId, key_id: UserKeyId }),
    teamIn,
    context: (given: object, facts: RequestFacts): Context => ({
      organisation_id: teamIn(given),
      ...teamSender(facts),
      correlation_id: facts.request_id,
      now: realNow(),
    }),
    /** Throws where the team has no such user: one of another team is none. */
    ofTeam: async (given: { readonly user_id: UserId }): Promise<UserRecord> => {
      const user = await load(given.user_id)
      if (!user || user.organisation_id !== teamIn(given)) throw notFound('user')
      return user
    },
  }
}

const shown = (id: UserId, state: UserRecord | undefined) => {
  if (!state) throw notFound('user')
  return { data: userView(id, state, realNow()) }
}

const pageOf = async (
  deps: UserDeps,
  team: Team,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<z.input<typeof List>> => {
  const { load } = makeTeam(deps)
  const after = cursor === undefined ? undefined : readCursorAs(cursor, Place)
  const left = teamOf(deps.users, team)
    .filter((each) => !after || isBefore(after, cursorPlace(each)))
    .toSorted((one, other) => (isBefore(cursorPlace(one), cursorPlace(other)) ? -1 : 1))
  const page = left.slice(0, limit)
  const states = await Promise.all(page.map(async ({ id }) => [id, await load(id)] as const))
  const now = realNow()
  const last = left.length > limit ? page.at(-1) : undefined
  return {
    data: states.flatMap(([id, state]) => (state ? [userView(id, state, now)] : [])),
    next_cursor: last ? cursorOf(cursorPlace(last)) : null,
    limits: { users: mostUsers, keys_of_a_user: mostKeys },
  }
}

const shownRoutes = (kind: keyof typeof places, deps: UserDeps): Route[] => {
  const { address, one, team, path, userPath, of, teamIn, ofTeam } = makePlace(kind, deps)
  return [
    route(
      {
        ...team,
        method: 'get',
        address,
        summary: `List the users of ${of} in the order in which they were added, those who ended too`,
        path,
        query: z.object(pageParameters),
        answers: { 200: List },
      },
      async (request) => ({ status: 200, body: await pageOf(deps, teamIn(request.path), request.query) }),
    ),
    route(
      {
        ...team,
        method: 'get',
        address: one,
        summary: `Show a user of ${of}`,
        path: userPath,
        answers: { 200: OneUser },
      },
      async (request) => ({ status: 200, body: shown(request.path.user_id, await ofTeam(request.path)) }),
    ),
  ]
}

const changeRoutes = (kind: keyof typeof places, deps: UserDeps): Route[] => {
  const { address, one, team, path, userPath, of, teamIn, context, ofTeam } = makePlace(kind, deps)
  const { add, change } = makeTeam(deps)
  return [
    route(
      {
        ...team,
        method: 'post',
        address,
        summary: `Add a user of ${of}, who gets no key by that`,
        path,
        body: NewUser[kind],
        answers: { 201: OneUser },
        errors: ['conflict'],
      },
      async (request) => {
        const { id, state } = await add(teamIn(request.path), request.body, context(request.path, request))
        return { status: 201, body: shown(id, state) }
      },
    ),
    route(
      {
        ...team,
        method: 'patch',
        address: one,
        summary: `Change a user of ${of}: only the fields sent`,
        path: userPath,
        body: UserChanges[kind],
        answers: { 200: OneUser },
        errors: ['conflict'],
      },
      async (request) => {
        const { user_id } = request.path
        await ofTeam(request.path)
        const state = await change(user_id, teamIn(request.path), request.body, context(request.path, request))
        return { status: 200, body: shown(user_id, state) }
      },
    ),
  ]
}

const endRoutes = (kind: keyof typeof places, deps: UserDeps): Route[] => {
  const { one, team, userPath, of, teamIn, context, ofTeam } = makePlace(kind, deps)
  const { end, handle, preview, streamOf } = makeTeam(deps)
  return [
    route(
      {
        ...team,
        method: 'delete',
        address: one,
        summary: `End a user of ${of}, and all of their keys, at once. What they did stays theirs`,
        path: userPath,
        answers: { 200: OneUser },
        errors: ['conflict'],
      },
      async (request) => {
        const { user_id } = request.path
        await ofTeam(request.path)
        const state = await end(user_id, teamIn(request.path), context(request.path, request))
        return { status: 200, body: shown(user_id, state) }
      },
    ),
    route(
      {
        ...team,
        method: 'post',
        address: `${one}/erasure`,
        summary: `Erase the name and the email of a user of ${of} who has ended, for good`,
        path: userPath,
        answers: { 200: OneUser },
        errors: ['conflict'],
      },
      async (request) => {
        const { user_id } = request.path
        await ofTeam(request.path)
        await preview(user_id, { type: 'EraseUser', user_id })
        // Before it is said to be done: after a crash in between, a repeat says it.
        const organisation_id = teamIn(request.path) ?? installationKeys
        await deps.dataKeys.erase({ organisation_id, subject: streamOf(user_id) })
        const { state } = await handle(user_id, { type: 'EraseUser', user_id }, context(request.path, request))
        return { status: 200, body: shown(user_id, state) }
      },
    ),
  ]
}

type WantedKey = { readonly ends_at: string | null; readonly replaces?: { key_id: UserKeyId; ends_at: string } }

const newKey = (user_id: UserId, { ends_at, replaces }: WantedKey, by: Context) => {
  const key = generateSecret()
  const command = {
    type: 'MakeUserKey',
    key_id: UserKeyId.parse(newId()),
    user_id,
    made_by: makersOf(by.actor, by.key_made_by ?? []),
    key_digest: createHash('sha256').update(key).digest('hex'),
    ends_at,
    real_now: by.now,
    ...(replaces && { replaces }),
  } as const
  return { key, command }
}

/** Makes a key, which is shown once: in this answer. */
const makeKey = (kind: keyof typeof places, deps: UserDeps) => {
  const { context, ofTeam } = makePlace(kind, deps)
  const { handle } = makeTeam(deps)
  return async (path: { readonly user_id: UserId }, wanted: WantedKey, facts: RequestFacts) => {
    await ofTeam(path)
    const by = context(path, facts)
    const { key, command } = newKey(path.user_id, wanted, by)
    const { state } = await handle(path.user_id, command, by)
    return { status: 201 as const, body: { data: { ...shown(path.user_id, state).data, key } } }
  }
}

const keyRoutes = (kind: keyof typeof places, deps: UserDeps): Route[] => {
  const { one, team, userPath, keyPath, of, context, ofTeam } = makePlace(kind, deps)
  const { handle } = makeTeam(deps)
  const make = makeKey(kind, deps)
  return [
    route(
      {
        ...team,
        method: 'post',
        address: `${one}/keys`,
        summary: `Make a key of a user of ${of}, shown once, in this answer`,
        path: userPath,
        body: NewUserKey,
        answers: { 201: OneWithKey },
        errors: ['conflict'],
      },
      async (request) => make(request.path, request.body, request),
    ),
    rotationRoute(kind, deps),
    route(
      {
        ...team,
        method: 'delete',
        address: `${one}/keys/:key_id`,
        summary: `End a key of a user of ${of} at once`,
        path: keyPath,
        answers: { 200: OneUser },
      },
      async (request) => {
        const { user_id, key_id } = request.path
        await ofTeam(request.path)
        const by = context(request.path, request)
        const { state } = await handle(user_id, { type: 'EndUserKey', key_id, real_now: by.now }, by)
        return { status: 200, body: shown(user_id, state) }
      },
    ),
  ]
}

const rotationRoute = (kind: keyof typeof places, deps: UserDeps): Route => {
  const { one, team, everybody, keyPath, of } = makePlace(kind, deps)
  const make = makeKey(kind, deps)
  return route(
    {
      ...everybody,
      method: 'post',
      address: `${one}/keys/:key_id/rotate`,
      summary: `Replace a key of a user of ${of}, shown once, in this answer; everybody may replace their own. The old one ends at once, or after overlap_seconds`,
      path: keyPath,
      body: UserKeyRotation,
      answers: { 201: OneWithKey },
      errors: ['conflict'],
    },
    async (request) => {
      const { user, path } = request
      // The keys of others are an owner's affair: to anybody else there are none.
      const mayAny = !user || team.access.roles.some((role) => user.roles.includes(role))
      if (!mayAny && user.id !== path.user_id) throw notFound('user')
      const { ends_at, overlap_seconds } = request.body
      const until = new Date(Date.parse(realNow()) + overlap_seconds * 1_000).toISOString()
      return make(path, { ends_at, replaces: { key_id: path.key_id, ends_at: until } }, request)
    },
  )
}

/** Seven days. */
const invitedMs = 7 * 24 * 60 * 60 * 1_000

const invitationRoute = (kind: keyof typeof places, deps: UserDeps): Route => {
  const { one, team, userPath, of, context, ofTeam } = makePlace(kind, deps)
  const { handle } = makeTeam(deps)
  return route(
    {
      ...team,
      method: 'post',
      address: `${one}/invitation`,
      summary: `Invite a user of ${of} to sign in by a provider, once, within seven days; in place of the invitation before`,
      path: userPath,
      answers: { 201: Invited },
      errors: ['conflict'],
    },
    async (request) => {
      const { user_id } = request.path
      await ofTeam(request.path)
      const by = context(request.path, request)
      const invitation = generateSecret()
      const invited_until = new Date(Date.parse(by.now) + invitedMs).toISOString()
      const { state } = await handle(
        user_id,
        {
          type: 'InviteUser',
          invitation_digest: createHash('sha256').update(invitation).digest('hex'),
          ends_at: invited_until,
          made_by: makersOf(by.actor, by.key_made_by ?? []),
          real_now: by.now,
        },
        by,
      )
      return { status: 201, body: { data: { ...shown(user_id, state).data, invitation, invited_until } } }
    },
  )
}
