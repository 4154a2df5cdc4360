import type { Actor } from './event.ts'

/** Who made a key, an invitation or a link, and whoever made the key that they did it with: all who may hold it. */
export type Makers = readonly Actor[]

export const isSameActor = (one: Actor | null, other: Actor): boolean => one?.type === other.type && one.id === other.id

/** All programs have their keys of the operator. */
export const isSameParty = (one: Actor, other: Actor): boolean =>
  isSameActor(one, other) || (one.type === 'operator' && other.type === 'operator')

/** Each once. */
export const makersOf = (actor: Actor, keyMadeBy: Makers): Makers => [
  actor,
  ...keyMadeBy.filter((each) => !isSameActor(each, actor)),
]

/** True where nobody but the user has made it. */
export const isOwn = (user_id: string, made_by: Makers): boolean =>
  made_by.every(({ type, id }) => type === 'user' && id === user_id)
