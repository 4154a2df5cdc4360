import { usersFold } from '#domain/users/record.ts'
import { accessOfSignIn, type Access } from '#infra/access-records/access.ts'
import { makeRecordAccess } from '#infra/access-records/recorder.ts'
import { Problem } from '#infra/http/problem.ts'
import { requireServed } from '#infra/http/rate-limit.ts'
import type { RequestFacts } from '#infra/http/route.ts'
import type { Basis } from '#infra/http/sessions.ts'
import type { TeamUser } from '#infra/http/team.ts'
import type { CommandSide } from '../command-side.ts'

type Who = Pick<TeamUser, 'id' | 'organisation_id'>

export type SessionDeps = Pick<
  CommandSide,
  'dataKeys' | 'directory' | 'folds' | 'pool' | 'sessions' | 'shown' | 'signInLimit' | 'teamAlone' | 'users' | 'writer'
>

export const makeStartSession = ({ directory, folds, pool, sessions, signInLimit }: SessionDeps) => {
  const record = makeRecordAccess(pool)

  /** Throws where somebody who has shown who they are may not sign in now: before anything is used up by it. */
  const requireAdmitted = async ({ id, organisation_id }: Who): Promise<void> => {
    requireServed(await signInLimit(`user ${id}`))
    folds.requireCurrent(usersFold.name, organisation_id ?? undefined)
    if (organisation_id !== null && !directory.organisations.get(organisation_id)?.active)
      throw new Problem(
        'forbidden',
        'The organisation’s account is not active. Ask the operator of the service to activate it.',
      )
  }

  /** Signs them in; answers the cookie. Each sign-in is recorded before it can be used. */
  const start = async (
    { id, organisation_id }: Who,
    basis: Basis,
    { header, request_id }: Pick<RequestFacts, 'header' | 'request_id'>,
    route: Pick<Access, 'method' | 'route'>,
  ): Promise<string> => {
    await record(accessOfSignIn({ user: { id, organisation_id }, request_id, ...route }))
    return sessions.start(id, basis, header('cookie'))
  }

  return { requireAdmitted, start }
}
