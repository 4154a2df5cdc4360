import {
  hadOwn,
  isUserInForce,
  teamOf,
  type KnownUser,
  type User as UserRecord,
  type Users,
} from '#domain/users/record.ts'
import { makersOf } from '#domain/makers.ts'
import { user, type UserChanges, type UserDetails } from '#domain/users/user.ts'
import { UserId, type OrganisationId, type UserRole } from '#domain/values.ts'
import { realTime } from '#infra/clock.ts'
import { untilShown, type Shown } from '#infra/consumers/until-shown.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import { installationKeys } from '#infra/crypto/subjects.ts'
import { Problem } from '#infra/http/problem.ts'
import { derivedId } from '#infra/ids.ts'
import { comparedEmail } from '../email-address.ts'
import type { Alone, Turn } from '../writing/alone.ts'
import { commandHandler, type Context, type Writer } from '../writing/handle.ts'

export type UserDeps = {
  readonly writer: Writer
  readonly users: Users
  readonly dataKeys: Pick<DataKeys, 'digest' | 'erase'>
  readonly shown: Shown
  /** Whatever depends on who else is in the team is done by one process after the other. */
  readonly teamAlone: Alone
}

export type Team = OrganisationId | null

/** Also counts those who have ended; those who were erased are counted no more. */
export const mostUsers = 1_000

/** People's ends are in real time, whatever business time is. */
export const realNow = () => realTime().toISOString()

/** All that was stored before the turn is shown by then. */
const waitedInTurnMs = 1_000

/** A person who has come and gone as often as this gets no other id. */
const mostReturns = 50

/** The acts on people of a team that routes share with the set-up file. */
export const makeTeam = (given: UserDeps) => {
  const commands = commandsOf(given)
  const deps = { ...given, ...commands }
  const { handle, load, preview, streamOf } = commands
  return {
    handle,
    load,
    preview,
    streamOf,
    emailDigest: emailDigest(deps),
    withEmail: withEmail(deps),
    add: add(deps),
    change: change(deps),
    end: end(deps),
    isLastOwnerBy: isLastOwnerBy(deps),
  }
}

const commandsOf = ({ writer }: UserDeps) => commandHandler(writer, user)
type Deps = UserDeps & ReturnType<typeof commandsOf>

const alone = <Result>({ teamAlone }: Deps, team: Team, work: (turn: Turn) => Promise<Result>): Promise<Result> =>
  teamAlone(team ?? installationKeys, work)

/** Others wait for their turn meanwhile. */
const untilShownInTurn = async ({ shown }: Deps): Promise<void> =>
  untilShown({ ...shown, withinMs: Math.min(shown.withinMs, waitedInTurnMs) }, [user.category])

const emailDigest =
  ({ dataKeys }: Deps) =>
  async (team: Team, email: string): Promise<string> => {
    const digest = await dataKeys.digest(team ?? installationKeys, 'email of a user', comparedEmail(email))
    return digest.toString('base64url')
  }

const withEmail =
  ({ users }: Deps) =>
  (team: Team, email_digest: string): readonly KnownUser[] =>
    teamOf(users, team).filter((each) => each.email_digest === email_digest)

/**
 * The same person added twice at once gets one id, so that one of the two is refused. Whoever comes back gets another, as
 * what they did before stays what it was; all that is known of those who had this email before is if they had a way in of their own.
 */
const freeId = async (
  { users, load }: Deps,
  team: Team,
  email_digest: string,
): Promise<{ readonly id: UserId; readonly had_own: boolean }> => {
  const others = teamOf(users, team).filter(({ email_digests }) => email_digests.includes(email_digest))
  let had_own = others.some((each) => hadOwn(each.id, each))
  for (let earlier = 0; earlier < mostReturns; earlier++) {
    const id = UserId.parse(derivedId('user', team ?? installationKeys, email_digest, String(earlier)))
    const former = await load(id)
    if (!former || (former.ended_at === null && former.email_digest === email_digest)) return { id, had_own }
    had_own ||= hadOwn(id, former)
  }
  throw new Problem('conflict', 'This person has come and gone too often. Add them with another email.')
}

/** By all that this process knows, and in turn by all that is stored. */
const refuseTaken = (deps: Deps, team: Team, email_digest: string, except?: UserId): void => {
  if (withEmail(deps)(team, email_digest).some(({ id, ended_at }) => id !== except && ended_at === null))
    throw new Problem('conflict', 'There is a user with this email already. List the users.', {
      fields: { email: 'is that of another user' },
    })
}

const add = (deps: Deps) => async (team: Team, details: Omit<UserDetails, 'email_digest'>, context: Context) => {
  if (teamOf(deps.users, team).length >= mostUsers)
    throw new Problem('conflict', `There are ${mostUsers} users, which is the most. Erase some who have ended.`)
  const email_digest = await emailDigest(deps)(team, details.email)
  refuseTaken(deps, team, email_digest)
  await untilShown(deps.shown, [user.category])
  return alone(deps, team, async (turn) => {
    await untilShownInTurn(deps)
    refuseTaken(deps, team, email_digest)
    const { id, had_own } = await freeId(deps, team, email_digest)
    const real_now = context.now
    const command = { type: 'AddUser', organisation_id: team, ...details, email_digest, had_own, real_now } as const
    await turn.require()
    const { state } = await deps.handle(id, command, context)
    return { id, state }
  })
}

const change =
  (deps: Deps) =>
  async (
    id: UserId,
    team: Team,
    changes: Omit<UserChanges, 'email_digest'> & { readonly from_roles?: readonly UserRole[] | undefined },
    context: Context,
  ): Promise<UserRecord | undefined> => {
    const digest = changes.email === undefined ? undefined : await emailDigest(deps)(team, changes.email)
    const email = digest === undefined ? {} : { email_digest: digest }
    const { actor, key_made_by = [], now: real_now } = context
    const made_by = makersOf(actor, key_made_by)
    if (digest !== undefined) await untilShown(deps.shown, [user.category])
    return alone(deps, team, async (turn) => {
      if (digest !== undefined) {
        await untilShownInTurn(deps)
        refuseTaken(deps, team, digest, id)
      }
      const isLastOwner = await isLastOwnerBy(deps)(id, team, context)
      const command = { type: 'ChangeUser', ...changes, ...email, made_by, real_now, isLastOwner } as const
      await turn.require()
      return (await deps.handle(id, command, context)).state
    })
  }

const end =
  (deps: Deps) =>
  async (user_id: UserId, team: Team, context: Context): Promise<UserRecord | undefined> =>
    alone(deps, team, async (turn) => {
      const isLastOwner = await isLastOwnerBy(deps)(user_id, team, context)
      const command = { type: 'EndUser', user_id, real_now: context.now, isLastOwner } as const
      await turn.require()
      return (await deps.handle(user_id, command, context)).state
    })

const isOwner = async ({ load }: Deps, id: string, now: string): Promise<boolean> => {
  const state = await load(id)
  return state !== undefined && state.roles.includes('owner') && isUserInForce(state, now)
}

/**
 * True where somebody of the organisation acts, and nobody but this user is an owner of it. Each is read from the log: another
 * process may have ended them a moment ago.
 */
const isLastOwnerBy =
  (deps: Deps) =>
  async (id: UserId, team: Team, { actor, now }: Context): Promise<boolean> => {
    const { load, users } = deps
    if (team === null || actor.type !== 'user' || (await load(actor.id ?? ''))?.organisation_id !== team) return false
    if (!(await isOwner(deps, id, now))) return false
    for (const other of teamOf(users, team))
      if (other.id !== id && other.roles.includes('owner') && (await isOwner(deps, other.id, now))) return false
    return true
  }
