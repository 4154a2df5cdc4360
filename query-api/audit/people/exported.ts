import { z } from 'zod'
import { categoryOf, idOf, type Json, type RecordedEvent } from '#domain/event.ts'
import { money } from '#domain/money.ts'
import { storedEvents } from '#domain/stored-events.ts'
import { shownData, withoutSecrets } from '../event.ts'
import type { Told } from '../folds.ts'
import { toldBy, withoutPeople } from '../record-history.ts'
import { sentenceOf } from '../sentences/all.ts'
import type { Held, Person } from './find-held.ts'

const RecordName = z.object({ type: z.string(), id: z.string() })

export const ExportedEvent = z
  .object({
    event_id: z.uuid(),
    record: RecordName,
    revision: z.int(),
    type: z.string(),
    sentence: z.string().describe('What happened, in words.'),
    occurred_at: z.iso.datetime(),
    recorded_at: z.iso.datetime(),
    data: z.record(z.string(), z.unknown()),
    personal_fields: z.array(z.string()),
    personal: z
      .enum(['none', 'opened', 'of_another', 'erased', 'unreadable'])
      .describe('of_another: what is personal in it is another person’s, and is empty.'),
  })
  .meta({ id: 'ExportedEvent' })
export type ExportedEvent = z.output<typeof ExportedEvent>

export const ExportedRecord = z
  .object({
    record: RecordName,
    state: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('What stands in it now. null: it cannot be followed to its end.'),
  })
  .meta({ id: 'ExportedRecord' })
export type ExportedRecord = z.output<typeof ExportedRecord>

/** These tell of the second person of joint cover, also where an earlier version stored them under the key of the first. */
const ofSecond: readonly string[] = ['PartnerSaved', 'PartnerAnswersSaved', 'PolicyPartnerRecorded']

/** True where what is personal in an event is this person's: it can be read no more once they are erased. */
export const isTheirs = (
  { type, stream }: Pick<RecordedEvent, 'type' | 'stream'>,
  data: Json,
  person_id: string,
  sealed: Held['sealed'],
): boolean => {
  const subject = storedEvents[type]?.subject(data, idOf(stream)) ?? null
  if (subject !== null) return subject.toLowerCase() === person_id
  return sealed.has(stream) !== ofSecond.includes(type)
}

/** A search of the market is for both people of joint cover, the first one first. */
const ofFirstLife = (told: Told): Told => {
  const search = told['search']
  if (told.type !== 'MarketSearchRequested' || typeof search !== 'object' || search === null) return told
  const { lives } = search as { readonly lives?: unknown }
  return Array.isArray(lives) ? { ...told, search: { ...search, lives: lives.slice(0, 1) } } : told
}

type Step = { readonly event: ExportedEvent; readonly told: Told | undefined }

export type Asked = Person & { readonly held: Held; readonly currency: string }

/** An event as it may leave: with the person's own values, and nobody else's. */
export const exportedOf = (recorded: RecordedEvent, { person_id, held, currency }: Asked): Step => {
  const told = toldBy(recorded)
  const { id, type, revision, stream, metadata, recorded_at } = recorded
  const isOwn = told === undefined || isTheirs(recorded, told, person_id, held.sealed)
  const { data, personal, personal_fields } = shownData(recorded, isOwn ? 'opened' : 'masked')
  const own = told && (isOwn ? ofFirstLife(told) : withoutPeople(told))
  const { type: _type, ...values } = own ?? { type }
  const event = {
    event_id: id,
    record: { type: categoryOf(stream), id: idOf(stream) },
    revision,
    type,
    sentence: told
      ? sentenceOf(type, withoutPeople(told), (pence) =>
          pence === null ? 'an unknown amount' : money(pence, currency),
        )
      : 'What happened cannot be read any more.',
    occurred_at: metadata.occurred_at,
    recorded_at: recorded_at.toISOString(),
    data: own ? (withoutSecrets(values) as Json) : data,
    personal_fields,
    personal: personal === 'masked' ? ('of_another' as const) : personal,
  }
  return { event, told: own }
}
