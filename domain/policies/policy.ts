import type { Decider } from '../decider.ts'
import { policyEvents, type PolicyEvent } from './events.ts'
import { evolvePolicy, type PolicyRecord } from './record.ts'
import { setUpPolicy, type SetUpPolicy } from './set-up.ts'

export type PolicyCommand = SetUpPolicy

const decide = (command: PolicyCommand, state: PolicyRecord | undefined): readonly PolicyEvent[] =>
  // The sale was decided once, on the application's stream: whoever comes second has nothing to add.
  state ? [] : setUpPolicy(command)

export const policy: Decider<PolicyCommand, typeof policyEvents, PolicyRecord | undefined> = {
  category: 'policy',
  events: policyEvents,
  initialState: undefined,
  decide,
  evolve: evolvePolicy,
}
