import { isSameJson } from '../canonical-json.ts'
import type { Decider } from '../decider.ts'
import { Rejection, type Fields } from '../rejection.ts'
import type { OrganisationId } from '../values.ts'
import {
  customIntegrationEvents,
  type CustomIntegrationEvent,
  type CustomIntegrationId,
  type Inbound,
  type Outbound,
} from './events.ts'
import { evolveCustomIntegration, type CustomIntegration } from './record.ts'

/** One of the two is there: an integration has one direction. */
export type Settings = { readonly inbound: Inbound | null; readonly outbound: Outbound | null }

export type CustomIntegrationCommand =
  | ({
      readonly type: 'CreateCustomIntegration'
      readonly custom_integration_id: CustomIntegrationId
      readonly organisation_id: OrganisationId
      readonly name: string
      /** Faults in its addresses and templates, found elsewhere. */
      readonly faults: Fields
    } & Settings)
  | ({ readonly type: 'ChangeCustomIntegration'; readonly faults: Fields } & Settings)

type State = CustomIntegration | undefined

const decide = (command: CustomIntegrationCommand, integration: State): readonly CustomIntegrationEvent[] => {
  const { faults: given, type: _type, ...declared } = command
  const { inbound, outbound } = declared
  if (command.type === 'CreateCustomIntegration' && integration)
    throw new Rejection('conflict', `There is an integration called ${command.name} already. Change that one.`, {
      name: 'is taken',
    })
  if (command.type === 'ChangeCustomIntegration' && !integration)
    throw new Rejection('not_found', 'There is no integration with this id. Check the address.')

  refuse({ ...directionFault(inbound, outbound, integration), ...given, ...(inbound && inboundFaults(inbound)) })
  if (command.type === 'CreateCustomIntegration') {
    const { custom_integration_id, organisation_id, name } = command
    return [{ type: 'CustomIntegrationCreated', custom_integration_id, organisation_id, name, inbound, outbound }]
  }
  const isSame = integration && isSameJson([integration.inbound, integration.outbound], [inbound, outbound])
  return isSame ? [] : [{ type: 'CustomIntegrationChanged', inbound, outbound }]
}

const refuse = (faults: Fields): void => {
  const named = Object.keys(faults)
  if (named.length === 0) return
  throw new Rejection('validation_failed', `Correct ${named.join(', ')} and send the request again.`, faults)
}

const directionFault = (inbound: Inbound | null, outbound: Outbound | null, integration: State): Fields => {
  if ((inbound === null) === (outbound === null)) return { direction: 'must be either inbound or outbound' }
  const isOther = integration && integration.direction !== (inbound ? 'inbound' : 'outbound')
  return isOther ? { direction: `is ${integration.direction}, and cannot be changed` } : {}
}

const reservedHeaders = ['connection', 'content-length', 'content-type', 'host', 'transfer-encoding', 'user-agent']

const inboundFaults = (inbound: Inbound): Fields => {
  const { outcome_mapping: mapping, outcome_event_types, update_event_types, policy_id_path } = inbound
  const faults: Record<string, string> = {}
  if (reservedHeaders.includes(inbound.signature_header.toLowerCase()))
    faults['inbound.signature_header'] = 'is a header that HTTP itself uses'
  if (outcome_event_types.length > 0 && !mapping)
    faults['inbound.outcome_mapping'] = 'is required where outcome_event_types are listed'
  if (update_event_types.length > 0 && policy_id_path === null)
    faults['inbound.policy_id_path'] = 'is required where update_event_types are listed'
  if (!mapping) return faults

  const { id, external_id, email, phone, match_on_details } = mapping.lead
  if (id === null && external_id === null && email === null && phone === null)
    faults['inbound.outcome_mapping.lead'] = 'must have at least one of id, external_id, email and phone'
  else if (id === null && external_id === null && !match_on_details)
    faults['inbound.outcome_mapping.lead'] = 'can match by email and phone only with match_on_details: true'
  if ((mapping.type === null) === (mapping.type_column === null))
    faults['inbound.outcome_mapping.type'] = 'must be given, or type_column instead of it'
  return faults
}

export const customIntegration: Decider<CustomIntegrationCommand, typeof customIntegrationEvents, State> = {
  category: 'custom_integration',
  events: customIntegrationEvents,
  initialState: undefined,
  decide,
  evolve: evolveCustomIntegration,
}
