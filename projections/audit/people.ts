import { categoryOf, idOf, type Json, type RecordedEvent } from '#domain/event.ts'
import { storedEvents } from '#domain/stored-events.ts'

/** The people whom an event is about: of joint cover there are two. */
export type People = { readonly person_id: string | null; readonly second_person_id: string | null }

export const nobody: People = { person_id: null, second_person_id: null }

/** The id of these streams is that of a person. */
const ofOnePerson: readonly string[] = ['customer', 'lead', 'outcomes', 'outreach_person', 'erasure']

/** Each of these streams is about whom it named last, until it names another. */
const aboutPeople: readonly string[] = [
  'application',
  'policy',
  'membership',
  'ingest',
  'outcome_report',
  'payment',
  'message_news',
]

/** Somebody comes to be known here, of whom it told before. */
const toldLate: readonly string[] = ['application', 'ingest', 'outcome_report']

/** These name the second person of joint cover. */
const ofSecond: readonly string[] = ['PartnerSaved', 'PartnerAnswersSaved', 'PolicyPartnerRecorded']

/** The most earlier events of a stream that come to be about a person who is named later. */
export const mostEarlier = 200

const isId = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** The person whom an event itself names; undefined: it names nobody. */
const namedIn = (data: Json, { type, stream }: RecordedEvent): string | undefined => {
  const named = storedEvents[type]?.subject(data, idOf(stream)) ?? data['customer_id'] ?? data['contact_id']
  return typeof named === 'string' && isId.test(named) ? named.toLowerCase() : undefined
}

export const isAboutPeople = ({ stream }: RecordedEvent): boolean => aboutPeople.includes(categoryOf(stream))

/** True where the events before this one are about the person, too, whom only this one names. */
export const namesLate = (data: Json, recorded: RecordedEvent): boolean =>
  toldLate.includes(categoryOf(recorded.stream)) && namedIn(data, recorded) !== undefined

/** The people of an event, from what it says and whom the stream was about before it. */
export const peopleOf = (data: Json, recorded: RecordedEvent, before: People): People => {
  const { type, stream } = recorded
  if (ofOnePerson.includes(categoryOf(stream)))
    return isId.test(idOf(stream)) ? { ...nobody, person_id: idOf(stream).toLowerCase() } : nobody
  const named = namedIn(data, recorded)
  const known = isAboutPeople(recorded) ? before : nobody
  if (named === undefined || named === known.person_id || named === known.second_person_id) return known
  return ofSecond.includes(type) ? { ...known, second_person_id: named } : { ...known, person_id: named }
}

/** An event before the one that named somebody. */
export const withNamed = <Row extends People>(row: Row, { person_id, second_person_id }: People): Row =>
  (row.person_id ?? person_id) === row.person_id && (row.second_person_id ?? second_person_id) === row.second_person_id
    ? row
    : {
        ...row,
        person_id: row.person_id ?? person_id,
        second_person_id: row.second_person_id ?? second_person_id,
      }
