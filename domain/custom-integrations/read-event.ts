import type { Json } from '../event.ts'
import { PolicyId } from '../values.ts'
import type { Inbound, MappedOutcome, OutcomeMapping } from './events.ts'

/** An event as the settings of its integration read it. */
export type ReadEvent = {
  readonly event_type: string | null
  readonly event_id: string | null
  readonly outcome: MappedOutcome | null
  readonly policy_id: PolicyId | null
  /** Why nothing follows from it; null when something does. */
  readonly ignored: 'no_event_type' | 'other_event_type' | 'no_policy_id' | null
}

const longest = 2_000

export const readEvent = (inbound: Inbound, body: Json): ReadEvent => {
  const { event_type_path, outcome_event_types, outcome_mapping, update_event_types, policy_id_path } = inbound
  const event_type = textAt(body, event_type_path) ?? null
  const event_id = textAt(body, outcome_mapping?.event_id ?? null) ?? null
  const isOutcome = event_type !== null && outcome_event_types.includes(event_type)
  const isUpdate = event_type !== null && update_event_types.includes(event_type)
  const outcome = isOutcome && outcome_mapping ? mapOutcome(outcome_mapping, body) : null
  const policy_id = (isUpdate && PolicyId.safeParse(textAt(body, policy_id_path)).data) || null
  return { event_type, event_id, outcome, policy_id, ignored: whyIgnored() }

  function whyIgnored(): ReadEvent['ignored'] {
    if (outcome || policy_id) return null
    if (event_type === null) return 'no_event_type'
    return isUpdate ? 'no_policy_id' : 'other_event_type'
  }
}

const mapOutcome = ({ lead, values, ...mapping }: OutcomeMapping, body: Json): MappedOutcome => {
  const unreadable: string[] = []
  const read = (part: string, path: string | null): string | null => {
    const text = textAt(body, path)
    if (text === undefined) unreadable.push(part)
    return text ?? null
  }
  return {
    type: mapping.type ?? read('type', mapping.type_column),
    occurred_at: read('occurred_at', mapping.occurred_at),
    lead: {
      id: read('lead.id', lead.id),
      external_id: read('lead.external_id', lead.external_id),
      email: read('lead.email', lead.email),
      phone: read('lead.phone', lead.phone),
      match_on_details: lead.match_on_details,
    },
    deal_ref: read('deal_ref', mapping.deal_ref),
    product: read('product', mapping.product),
    reason: read('reason', mapping.reason),
    note: read('note', mapping.note),
    values: Object.fromEntries(
      Object.entries(values).flatMap(([measure, path]) => {
        const text = read(`values.${measure}`, path)
        return text === null ? [] : [[measure, text] as const]
      }),
    ),
    unreadable,
  }
}

/** The text or number at a place of an event; null when there is nothing, undefined when there is something else. */
const textAt = (body: Json, path: string | null): string | null | undefined => {
  const found = path === null ? null : valueAt(body, path)
  if (typeof found === 'number') return String(found)
  if (typeof found === 'string') return stored(found) || null
  return found === null || found === undefined ? null : undefined
}

/** Own properties only: an event says nothing by what every object has. */
const valueAt = (body: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (part, name) =>
        typeof part === 'object' && part !== null && Object.hasOwn(part, name) ? (part as Json)[name] : undefined,
      body,
    )

/** As it can be stored in a table. What is cut off here is refused by the checks that follow, or says enough as it is. */
const stored = (text: string): string => text.slice(0, longest).replaceAll('\0', '\uFFFD').toWellFormed().trim()
