import { organisationEvents } from '#domain/access/events.ts'
import { categoryOf, fromStored, idOf, organisationOf, type Json, type RecordedEvent } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import { kindOf, type ActionFacts, type Capabilities, type ConnectionFacts } from '../capability.ts'

type OrganisationFacts = { readonly active: boolean }

/** Planning's facts about one thing, from the log so far. `type` names its kind among the capabilities. */
export type SetUpRecord = { readonly type: string; readonly id: string; readonly organisation_id: string } & (
  | { readonly kind: 'organisation'; readonly facts: OrganisationFacts }
  | { readonly kind: 'connection'; readonly facts: ConnectionFacts }
  | { readonly kind: 'action'; readonly facts: ActionFacts }
  | {
      readonly kind: 'subject'
      readonly facts: Json
      /** The last event that was planned; null when that is not known. */
      readonly stream: string | null
      readonly revision: number | null
    }
)
export type ActionRecord = Extract<SetUpRecord, { kind: 'action' }>

/** The events that planning reads; their order decides what is sent. */
export const plannedFrom = ({ subjects, actions, connections }: Capabilities) => {
  const kinds = [...subjects, ...actions, ...connections]
  return {
    categories: [...new Set(['organisation', ...kinds.flatMap(({ categories }) => categories)])],
    types: [...new Set([...Object.keys(organisationEvents), ...kinds.flatMap(({ events }) => events)])],
  }
}

/** Needed before a batch can be planned: these subjects, and all that these organisations have set up. */
export const neededFor = ({ subjects }: Capabilities, batch: readonly RecordedEvent[]) => ({
  subjects: [...new Set(batch.flatMap((each) => kindOf(subjects, each)?.idOf(each) ?? []))],
  organisations: [...new Set(batch.map(organisationOf))],
})

/** The first event of each subject that began before the batch, although nothing is known of it. */
export const forgottenSubjects = (
  { subjects }: Capabilities,
  known: readonly SetUpRecord[],
  batch: readonly RecordedEvent[],
): readonly RecordedEvent[] => {
  const seen = new Set(known.flatMap(({ kind, id }) => (kind === 'subject' ? [id] : [])))
  return batch.filter((recorded) => {
    const subject = kindOf(subjects, recorded)
    const id = subject?.idOf(recorded)
    if (!subject || id === undefined || seen.has(id)) return false
    seen.add(id)
    return subject.remember(undefined, recorded) === undefined
  })
}

export const makeKnowledge = (capabilities: Capabilities, before: readonly SetUpRecord[]) => {
  const known = new Map(before.map((each) => [keyOf(each), each]))
  const learned = new Map<string, SetUpRecord>()

  const find = <Kind extends SetUpRecord['kind']>(kind: Kind, id: string) =>
    known.get(keyOf({ kind, id })) as Extract<SetUpRecord, { kind: Kind }> | undefined // the kind is part of the key

  return {
    find,
    actions: (): readonly ActionRecord[] => [...known.values()].filter((each) => each.kind === 'action'),
    /** Takes in what was learned of something elsewhere. */
    take: (given: SetUpRecord): void => {
      known.set(keyOf(given), given)
    },
    /** True where an event of a subject was planned before: the source may give one again. */
    hasTaken: (recorded: RecordedEvent): boolean => {
      const id = kindOf(capabilities.subjects, recorded)?.idOf(recorded)
      const before = id === undefined ? undefined : find('subject', id)
      return before?.stream === recorded.stream && before.revision !== null && recorded.revision <= before.revision
    },
    /** Takes in an event and gives what is known after it of the thing that it happened to. */
    learn: (recorded: RecordedEvent): SetUpRecord => {
      const after = knownAfter(capabilities, recorded, find)
      known.set(keyOf(after), after)
      learned.set(keyOf(after), after)
      return after
    },
    learned: (): readonly SetUpRecord[] => [...learned.values()],
  }
}
export type Knowledge = ReturnType<typeof makeKnowledge>

const keyOf = ({ kind, id }: Pick<SetUpRecord, 'kind' | 'id'>): string => `${kind} ${id}`

const knownAfter = (
  { subjects, actions, connections }: Capabilities,
  recorded: RecordedEvent,
  find: Knowledge['find'],
): SetUpRecord => {
  const organisation_id = organisationOf(recorded)
  const subject = kindOf(subjects, recorded)
  if (subject) {
    const id = subject.idOf(recorded)
    const facts = subject.remember(find('subject', id)?.facts, recorded)
    if (!facts) throw new OwnError(`${recorded.type} ${recorded.id}: its ${subject.type} never began.`)
    const { stream, revision } = recorded
    return { kind: 'subject', type: subject.type, id, organisation_id, facts, stream, revision }
  }

  const id = idOf(recorded.stream)
  const action = kindOf(actions, recorded)
  if (action) {
    const facts = action.learn(find('action', id)?.facts, recorded)
    return { kind: 'action', type: action.type, id, organisation_id, facts }
  }
  const connection = kindOf(connections, recorded)
  if (connection) {
    const facts = connection.learn(find('connection', id)?.facts, recorded)
    return { kind: 'connection', type: connection.type, id, organisation_id, facts }
  }
  if (categoryOf(recorded.stream) !== 'organisation')
    throw new OwnError(`Planning does not know ${recorded.type} in ${recorded.stream}.`)
  const facts = organisationAfter(find('organisation', id)?.facts, recorded)
  return { kind: 'organisation', type: 'organisation', id, organisation_id, facts }
}

const organisationAfter = (facts: OrganisationFacts | undefined, recorded: RecordedEvent): OrganisationFacts => {
  switch (fromStored(organisationEvents, recorded).type) {
    case 'OrganisationRegistered':
    case 'OrganisationActivated':
      return { active: true }
    case 'OrganisationDeactivated':
      return { active: false }
    case 'OrganisationChanged':
      return facts ?? { active: true }
  }
}
