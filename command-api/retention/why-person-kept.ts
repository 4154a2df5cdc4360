import type { CustomerId, OrganisationId } from '#domain/values.ts'
import type { Clock } from '#infra/clock.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import type { Writer } from '../writing/handle.ts'
import { findPeopleDue } from './find-people.ts'
import { makePeriodsOf } from './rules.ts'

type Deps = { readonly writer: Writer; readonly pool: Database; readonly clock: Clock }
type Person = { readonly organisation_id: OrganisationId; readonly contact_id: CustomerId }

/** Why a person whose erasure nobody has asked for by hand is kept after all; undefined: nothing of theirs is. */
export const makeWhyPersonKept = ({ writer, pool, clock }: Deps) => {
  const periodsOf = makePeriodsOf(writer)

  return async ({ organisation_id, contact_id }: Person): Promise<string | undefined> => {
    const rules = await periodsOf(organisation_id)
    if (Object.keys(rules.periods).length === 0) return 'No period is set any more.'
    const due = await findPeopleDue(pool, { organisation_id, rules, now: clock.now(), only: contact_id })
    return due.people.length > 0
      ? undefined
      : 'Something of theirs is kept: its period is not over, or it was never erased.'
  }
}
