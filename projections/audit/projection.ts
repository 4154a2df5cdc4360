import { installation, kindOf } from '#domain/event-kinds.ts'
import type { EventOf, RecordedEvent } from '#domain/event.ts'
import { storedEvents } from '#domain/stored-events.ts'
import type { Projection } from '../projection.ts'
import { isAboutPeople, mostEarlier, namesLate, nobody, peopleOf, withNamed, type People } from './people.ts'

type Row = People & {
  /** That of the installation, where the event belongs to no organisation. */
  readonly organisation_id: string
  readonly stream: string
  readonly revision: number
  readonly position: string
  readonly recorded_at: string
  readonly occurred_at: string
  readonly event_id: string
  readonly kind: string
  readonly actor_type: string
  readonly actor_id: string | null
  readonly correlation_id: string
  readonly causation_id: string | null
}

/**
 * Every event of the log, by what an audit asks for: a row for each, with nothing in it that is personal. What an event says is
 * read from the log itself.
 */
export const recordedEvents: Projection<typeof storedEvents, Row, 'organisation_id' | 'stream' | 'revision'> = {
  name: 'recorded_events',
  version: 5,
  categories: [
    'api_application',
    'application',
    'campaign',
    'complaint',
    'custom_integration',
    'customer',
    'delivery_news',
    'delivery_ping',
    'delivery_recovery',
    'delivery_settings',
    'endpoint_connection',
    'erasure',
    'four_eyes',
    'identity',
    'inbound_event',
    'ingest',
    'installation',
    'integration_connection',
    'lead',
    'lead_intake',
    'legal_hold',
    'lifecycle_action',
    'member_reference',
    'membership',
    'message_news',
    'operator_key',
    'organisation',
    'outcome_model',
    'outcome_report',
    'outcomes',
    'outreach',
    'outreach_person',
    'outreach_settings',
    'payment',
    'payment_account',
    'payment_news',
    'pipeline',
    'policy',
    'policy_number',
    'policy_rules',
    'product',
    'programme',
    'proposal',
    'provider_account',
    'rate_table',
    'workflow',
    'record_erasure',
    'retention',
    'sign_in_provider',
    'user',
  ],
  events: storedEvents,
  // Nobody who sells waits for it, and under load larger batches cost less.
  awaited: 'never',
  holdsNothingPersonal: true,
  table: {
    columns: {
      organisation_id: 'uuid',
      stream: 'text',
      revision: 'integer',
      position: 'text',
      recorded_at: 'timestamptz',
      occurred_at: 'timestamptz',
      event_id: 'uuid',
      kind: 'text',
      actor_type: 'text',
      actor_id: 'text',
      correlation_id: 'text',
      causation_id: 'text',
      person_id: 'uuid',
      second_person_id: 'uuid',
    },
    key: ['organisation_id', 'stream', 'revision'],
    indexes: [
      'organisation_id, recorded_at, position',
      'organisation_id, occurred_at, position',
      'organisation_id, kind, recorded_at, position',
      'organisation_id, actor_id, recorded_at, position',
      'organisation_id, actor_id, kind, recorded_at, position',
      'organisation_id, actor_id, occurred_at, position',
      'organisation_id, person_id, recorded_at, position where person_id is not null',
      'organisation_id, second_person_id, recorded_at, position where second_person_id is not null',
      'organisation_id, correlation_id, recorded_at, position',
      'organisation_id, causation_id, recorded_at, position where causation_id is not null',
    ],
  },

  keys: (event, recorded) => {
    const { stream, revision, metadata } = recorded
    const organisation_id = metadata.organisation_id ?? installation
    const first = Math.max(0, revision - (namesLate(event, recorded) ? mostEarlier : isAboutPeople(recorded) ? 1 : 0))
    return Array.from({ length: revision - first + 1 }, (_, place) => ({
      organisation_id,
      stream,
      revision: first + place,
    }))
  },

  project: (row, event, recorded, key, before = () => undefined) => {
    const { revision } = recorded
    const { person_id, second_person_id } = before({ ...key, revision: revision - 1 }) ?? nobody
    const people = peopleOf(event, recorded, { person_id, second_person_id })
    if (key.revision === revision) return { ...rowOf(event, recorded, key.organisation_id), ...people }
    return row && namesLate(event, recorded) ? withNamed(row, people) : row
  },
}

const rowOf = (
  { type, ...data }: EventOf<typeof storedEvents>,
  { id, stream, revision, position, recorded_at, metadata }: RecordedEvent,
  organisation_id: string,
): Omit<Row, keyof People> => {
  const { actor, correlation_id, causation_id, occurred_at } = metadata
  return {
    organisation_id,
    stream,
    revision,
    position,
    recorded_at: recorded_at.toISOString(),
    occurred_at,
    event_id: id,
    kind: kindOf(type, data),
    actor_type: actor.type,
    actor_id: actor.id,
    correlation_id,
    causation_id,
  }
}
