/** Under the key of a person all is sealed that is known to be theirs. */
export const subjectOfPerson = (id: string): string => `person:${id}`

/** What a stream tells is sealed under the key of its person or, while it is not known to be anybody's, under its own. */
export const subjectOfStream = (stream: string, person: string | null): string =>
  person === null ? stream : subjectOfPerson(person)
