import type { LifecycleState } from './events.ts'

/**
 * The states that may follow a state. A draft or sandbox product may also be put aside at once: it need not have been on
 * sale.
 */
const steps: Readonly<Record<LifecycleState, readonly LifecycleState[]>> = {
  draft: ['sandbox', 'archived'],
  sandbox: ['production', 'draft', 'archived'],
  production: ['archived', 'sandbox'],
  archived: ['production'],
}

/** A product once sold cannot go back into the sandbox. */
export const isLifecycleStep = (from: LifecycleState, to: LifecycleState, sold: boolean): boolean =>
  steps[from].includes(to) && !(sold && from === 'production' && to === 'sandbox')

/**
 * The steps from one state to another: one, or two by way of the sandbox. Undefined when there are none; nothing is put on
 * sale on the way to somewhere else.
 */
export const lifecyclePath = (
  from: LifecycleState,
  to: LifecycleState,
  sold: boolean,
): readonly LifecycleState[] | undefined => {
  if (from === to) return []
  if (isLifecycleStep(from, to, sold)) return [to]
  const byWayOfSandbox = isLifecycleStep(from, 'sandbox', sold) && isLifecycleStep('sandbox', to, sold)
  return byWayOfSandbox ? ['sandbox', to] : undefined
}
