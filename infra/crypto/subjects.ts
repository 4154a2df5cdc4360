import { categoryOf } from '#domain/event.ts'

/** In place of an organisation, for people who work for the whole installation. The id of an organisation is a UUID. */
export const installationKeys = 'installation'

/** The person's own key. Where it is destroyed, so are all below it. */
export const subjectOfPerson = (id: string): string => `person:${id}`

/**
 * Records of these can be erased one by one, while their person stays: of each person whom one tells of, it has a key of its own,
 * below the person's. All others are sealed under the person's key, as were these before: those go with the person alone.
 */
const erasedByThemselves: ReadonlySet<string> = new Set([
  'application',
  'lead',
  'message_news',
  'outcomes',
  'outreach_person',
  'policy',
])

/**
 * The subject under whose key a stream is sealed: its person or, while it is not known to be anybody's, the stream itself. A part
 * of a record may be erased before the rest of it.
 */
export const subjectOfStream = (stream: string, person: string | null, part: string | null = null): string => {
  if (person === null) return stream
  return subjectOfRecord(stream, person, part) ?? subjectOfPerson(person)
}

/** The subject of what a record, or a part of it, says of a person; undefined: it has no key of its own there. */
export const subjectOfRecord = (stream: string, person: string, part: string | null = null): string | undefined =>
  erasedByThemselves.has(categoryOf(stream))
    ? [subjectOfPerson(person), stream, ...(part === null ? [] : [part])].join('/')
    : undefined

/** The subject above, without whose key there is none of this one. */
export const subjectAbove = (subject: string): string | null => {
  const at = subject.lastIndexOf('/')
  return at === -1 ? null : subject.slice(0, at)
}

/** A person has one record of these for ever, such as their lead: once it was erased, it begins again, with another key. */
const lastsWithPerson = /^(person:([^/]+)\/[a-z_]+-\2)(?:#(\d+))?$/

/** The subject in place of one that was erased; undefined: nothing more is stored of that. */
export const subjectAfter = (subject: string): string | undefined => {
  const [, first, , times = '1'] = lastsWithPerson.exec(subject) ?? []
  return first && `${first}#${Number(times) + 1}`
}
