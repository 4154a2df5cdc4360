import type { Release } from '../catalogue/events.ts'
import type { CheckoutEvent } from '../checkout/events.ts'
import { isSellable, owedEvidence } from '../checkout/record.ts'
import type { Quote } from '../quotes/record.ts'
import { Rejection } from '../rejection.ts'
import type { QuoteId } from '../values.ts'
import { requireBindable, type BindableAt } from './bindable.ts'
import type { ApplicationState } from './state.ts'

/** The customer has seen the screen before buying, and agreed. */
export type ConfirmSteps = BindableAt & {
  readonly type: 'ConfirmSteps'
  readonly quote_id: QuoteId
  readonly release: Release
}

export const refuseUnsellable = (release: Release): void => {
  if (isSellable(release)) return
  throw new Rejection(
    'not_sellable',
    'This product cannot be bought on a form: it has no statement of demands and needs. Speak to the customer.',
  )
}

/** Nothing is sold before the customer has seen what must be shown. */
export const refuseStepsOwed = (
  { record: { confirmed } }: ApplicationState,
  release: Release,
  quote: Quote,
  digest: BindableAt['digest'],
): void => {
  const owed = owedEvidence({ release, quote, confirmed }, digest).map(({ step }) => step)
  if (owed.length > 0)
    throw new Rejection(
      'steps_owed',
      `The customer has not confirmed ${owed.join(', ')}. Show what before_you_buy holds, then confirm.`,
    )
}

/** Records what was shown, and nothing when nothing is owed. */
export const confirmSteps = (command: ConfirmSteps, state: ApplicationState): readonly CheckoutEvent[] => {
  const { quote_id, release, digest } = command
  const { quote } = requireBindable(state, quote_id, command)
  refuseUnsellable(release)
  const steps = owedEvidence({ release, quote, confirmed: state.record.confirmed }, digest)
  return steps.length === 0
    ? []
    : [{ type: 'StepsConfirmed', quote_id, product_release_id: release.id, steps: [...steps] }]
}
