import type { Actor } from './event.ts'

/** Who made a key, an invitation or a link, and whoever made the key that they did it with: all who may hold it. */
export type Makers = readonly Actor[]

export const isSameActor = (one: Actor | null, other: Actor): boolean => one?.type === other.type && one.id === other.id

/** Stands for all keys of programs: each of them, and each user of the installation, can make others. */
export const anyProgram: Actor = { type: 'operator', id: null }

/** All programs have their keys of the operator. */
export const isSameParty = (one: Actor, other: Actor): boolean =>
  isSameActor(one, other) || (one.type === 'operator' && other.type === 'operator')

/** Each once. */
export const makersOf = (actor: Actor, keyMadeBy: Makers): Makers => [
  actor,
  ...keyMadeBy.filter((each) => !isSameActor(each, actor)),
]

/** The user who has made something that nobody else could hold; null: there is none. */
export const soleMaker = ([maker, ...others]: Makers): string | null =>
  maker?.type === 'user' && others.length === 0 ? maker.id : null

/** True where nobody but the user has made it. */
export const isOwn = (user_id: string, made_by: Makers): boolean =>
  made_by.every(({ type, id }) => type === 'user' && id === user_id)
