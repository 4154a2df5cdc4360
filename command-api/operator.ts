import { z } from 'zod'
import type { Directory } from '#domain/access/record.ts'
import { anyProgram } from '#domain/makers.ts'
import type { OrganisationId } from '#domain/values.ts'
import { Problem } from '#infra/http/problem.ts'
import type { RequestFacts } from '#infra/http/route.ts'
import type { Context } from './writing/handle.ts'

export { impersonalRoute, teamRoute } from '#infra/http/route.ts'

/** The acting person of the team or, of a key that is a program's, its name. */
export const teamActor = ({ user, operator }: Pick<RequestFacts, 'user' | 'operator'>) =>
  user ? ({ type: 'user', id: user.id } as const) : ({ type: 'operator', id: operator ?? null } as const)

/**
 * Who acts, and who made the key, or the link, by which they are known. A user of the installation can make keys of programs, and
 * counts as one of them.
 */
export const teamSender = (facts: RequestFacts) => {
  const made_by = facts.key_made_by ?? []
  const key_made_by = facts.user?.organisation_id === null ? [...made_by, anyProgram] : made_by
  return { actor: teamActor(facts), ...(key_made_by.length > 0 && { key_made_by }) }
}

/** A command of the team's. */
export const teamContext = (organisation_id: OrganisationId, facts: RequestFacts): Context => ({
  organisation_id,
  ...teamSender(facts),
  correlation_id: facts.request_id,
  now: facts.now,
})

/** Who acts, as the holder of a program's key says it. */
export const By = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .nullish()
  .describe('The member of the team who does it, for the key of a program. A user’s key says itself who acts.')

/** The name that is recorded beside the actor: only the key of a program needs one. */
export const namedBy = ({ user }: Pick<RequestFacts, 'user'>, by: z.output<typeof By>): string | null => {
  const sent = by ?? null
  if (!user) return sent
  if (sent === null || sent === user.id) return null
  throw new Problem('validation_failed', 'Leave by out: the key that was sent says who acts.', {
    fields: { by: 'must be left out, since the key says who acts' },
  })
}

export type Organisations = Pick<Directory, 'organisations'>
