import type { Decider } from '../decider.ts'
import { Rejection } from '../rejection.ts'
import type { OrganisationId } from '../values.ts'
import { lifecycleActionEvents, type LifecycleActionEvent, type LifecycleActionId } from './events.ts'
import { evolveLifecycleAction, type LifecycleAction } from './record.ts'

/** The choices made when an action is set up, which can be changed later. */
export type LifecycleChoices = Pick<LifecycleAction, 'product_id' | 'event_types' | 'endpoint_connection_id' | 'active'>

export type LifecycleActionCommand =
  | {
      readonly type: 'CreateLifecycleAction'
      readonly lifecycle_action_id: LifecycleActionId
      readonly organisation_id: OrganisationId
      readonly name: string
      readonly choices: LifecycleChoices
    }
  | { readonly type: 'ChangeLifecycleAction'; readonly choices: Partial<LifecycleChoices> }
  | { readonly type: 'RemoveLifecycleAction' }

type Decision = readonly LifecycleActionEvent[]

const decide = (command: LifecycleActionCommand, action: LifecycleAction | undefined): Decision => {
  switch (command.type) {
    case 'CreateLifecycleAction': {
      const { type: _type, choices, ...identity } = command
      if (action)
        throw new Rejection(
          'conflict',
          `There is a lifecycle action called ${command.name} already. Change that one.`,
          {
            name: 'is taken',
          },
        )
      return [{ type: 'LifecycleActionCreated', ...identity, ...usable(choices) }]
    }
    case 'ChangeLifecycleAction': {
      if (!action) throw new Rejection('not_found', 'There is no lifecycle action with this id. Check the address.')
      const chosen = usable({ ...choicesOf(action), ...command.choices })
      return isSame(chosen, choicesOf(action)) ? [] : [{ type: 'LifecycleActionChanged', ...chosen }]
    }
    case 'RemoveLifecycleAction':
      return action ? [{ type: 'LifecycleActionRemoved', name: action.name }] : []
  }
}

/** Each event type once, so that no event is sent twice for one action. */
const usable = (choices: LifecycleChoices): LifecycleChoices => {
  const event_types = [...new Set(choices.event_types)].toSorted()
  if (event_types.length === 0)
    throw new Rejection('validation_failed', 'Choose at least one lifecycle event.', { event_types: 'is empty' })
  return { ...choices, event_types }
}

const choicesOf = ({ product_id, event_types, endpoint_connection_id, active }: LifecycleAction): LifecycleChoices => ({
  product_id,
  event_types,
  endpoint_connection_id,
  active,
})

const isSame = (one: LifecycleChoices, other: LifecycleChoices): boolean =>
  one.product_id === other.product_id &&
  one.endpoint_connection_id === other.endpoint_connection_id &&
  one.active === other.active &&
  one.event_types.join() === other.event_types.join()

export const lifecycleAction: Decider<
  LifecycleActionCommand,
  typeof lifecycleActionEvents,
  LifecycleAction | undefined
> = {
  category: 'lifecycle_action',
  events: lifecycleActionEvents,
  initialState: undefined,
  decide,
  evolve: evolveLifecycleAction,
}
