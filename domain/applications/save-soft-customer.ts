import { isSameJson } from '../canonical-json.ts'
import { CustomerDetails } from '../customers/events.ts'
import { nothingKnown } from '../customers/record.ts'
import type { Fields } from '../rejection.ts'
import type { CallerKind } from './events.ts'
import { withOutdatedAcceptance } from './outdated-acceptance.ts'
import type { ApplicationStreamEvent } from './record.ts'
import { refuseInputs } from './refusals.ts'
import { isOpen, type ApplicationState } from './state.ts'

/** Early details, often a first name and a postcode, which make nobody a customer. */
export type SaveSoftCustomer = {
  readonly type: 'SaveSoftCustomer'
  readonly caller: CallerKind
  /** Tidied; only what was sent. */
  readonly details: Partial<CustomerDetails>
  /** Details that cannot be used, each with the reason. */
  readonly refused: Fields
}

/** An application that has ended or is with the team stays as it is. */
export const saveSoftCustomer = (
  { details, refused, caller }: SaveSoftCustomer,
  state: ApplicationState,
): readonly ApplicationStreamEvent[] => {
  const reasons = Object.entries(refused).map(([name, reason]) => [`customer.${name}`, reason] as const)
  refuseInputs('validation_failed', Object.fromEntries(reasons))
  if (!isOpen(state.record)) return []

  const held = state.record.soft_customer
  const soft_customer = CustomerDetails.parse({ ...nothingKnown, ...held, ...details })
  if (isSameJson(soft_customer, held ?? nothingKnown)) return []
  return withOutdatedAcceptance(state, [{ type: 'SoftCustomerSaved', soft_customer, by: caller }])
}
