/** In place of an organisation, for people who work for the whole installation. The id of an organisation is a UUID. */
export const installationKeys = 'installation'

/** Under the key of a person all is sealed that is known to be theirs. */
export const subjectOfPerson = (id: string): string => `person:${id}`

/** The subject under whose key a stream is sealed: its person or, while it is not known to be anybody's, the stream itself. */
export const subjectOfStream = (stream: string, person: string | null): string =>
  person === null ? stream : subjectOfPerson(person)
