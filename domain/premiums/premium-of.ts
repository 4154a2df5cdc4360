import { Rejection } from '../rejection.ts'
import type { PolicyState } from '../policies/state.ts'
import type { PremiumId } from './events.ts'
import type { Premium } from './record.ts'

/** The premium of a policy with this id. Throws `not_found`. */
export const premiumOf = ({ premiums }: PolicyState, id: PremiumId): Premium => {
  const premium = premiums.find(({ premium_id }) => premium_id === id)
  if (!premium) throw new Rejection('not_found', 'This policy has no premium with this id. Check the address.')
  return premium
}

/** The team's note on an act of theirs. */
export const noteOf = ({ note }: { readonly note?: string }) => (note === undefined ? {} : { note })

/** The fields that every event about a premium repeats. */
export const about = ({ premium_id, number, amount_pence, due_on }: Premium) => ({
  premium_id,
  number,
  amount_pence,
  due_on,
})
