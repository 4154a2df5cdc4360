import type { Directory } from '#domain/access/record.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { RequestFacts } from '#infra/http/route.ts'
import type { Context } from './writing/handle.ts'

export { impersonalRoute, teamRoute } from '#infra/http/route.ts'

/** The acting person of the team or, of a key that is a program's, its name. */
export const teamActor = ({ user, operator }: Pick<RequestFacts, 'user' | 'operator'>) =>
  user ? ({ type: 'user', id: user.id } as const) : ({ type: 'operator', id: operator ?? null } as const)

/** A command of the team's. */
export const teamContext = (organisation_id: OrganisationId, facts: RequestFacts): Context => ({
  organisation_id,
  actor: teamActor(facts),
  correlation_id: facts.request_id,
  now: facts.now,
})

export type Organisations = Pick<Directory, 'organisations'>
