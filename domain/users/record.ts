import { idOf, type Actor } from '../event.ts'
import { UserId, type OrganisationId, type UserRole } from '../values.ts'
import { userEvents, type UserEvent, type UserKeyId } from './events.ts'
import { soleMaker, type Makers } from '../makers.ts'

export type UserKey = {
  readonly id: UserKeyId
  readonly key_digest: string
  readonly made_at: string
  readonly ends_at: string | null
  readonly made_by: Makers
}

/** An account at a provider. It was made by nobody else where the provider has verified the email of the user. */
export type UserLink = { readonly issuer: string; readonly subject_digest: string; readonly made_by: Makers }

export type User = {
  /** Null: of the installation. */
  readonly organisation_id: OrganisationId | null
  readonly name: string
  readonly email: string
  readonly email_digest: string
  /** Who has put another email in the place of that with which the user was added. */
  readonly email_by: Makers
  /** Of all the emails that they have had. */
  readonly email_digests: readonly string[]
  /** They have signed in by a provider, or had a way in of their own under another id. */
  readonly had_own: boolean
  /** The ids of those who have made a key of theirs that nobody else could hold. */
  readonly sole_makers: readonly string[]
  readonly roles: readonly UserRole[]
  readonly sees_personal_data: boolean
  readonly added_at: string
  readonly ends_at: string | null
  /** When they were ended before that. */
  readonly ended_at: string | null
  readonly erased: boolean
  /** Those that have not ended; one whose end has come stays until another is made. */
  readonly keys: readonly UserKey[]
  /** The last one, until it was used. */
  readonly invitation: { readonly digest: string; readonly ends_at: string; readonly made_by: Makers } | null
  /** One at each issuer. */
  readonly links: readonly UserLink[]
}

type Recorded = { readonly occurred_at: string; readonly actor?: Actor }

export const isOver = (ends_at: string | null, now: string): boolean => ends_at !== null && ends_at <= now

/** True while somebody may act. */
export const isUserInForce = ({ ends_at, ended_at }: Pick<User, 'ends_at' | 'ended_at'>, now: string): boolean =>
  ended_at === null && !isOver(ends_at, now)

/**
 * True once a user has had a key of their own, or signed in by a provider. Whatever others make for them from then on never becomes
 * theirs alone.
 */
export const hadOwn = (user_id: string, { had_own, sole_makers }: Pick<User, 'had_own' | 'sole_makers'>): boolean =>
  had_own || sole_makers.includes(user_id)

const gone = { keys: [], invitation: null, links: [] } as const

const withOne = (list: readonly string[], one: string | null): readonly string[] =>
  one === null || list.includes(one) ? list : [...list, one]

export const foldUser = (
  user: User | undefined,
  event: UserEvent,
  { occurred_at, actor }: Recorded,
): User | undefined => {
  const byActor = actor ? [actor] : []
  if (event.type === 'UserAdded') {
    const { type: _, ...details } = event
    const since = { email_by: [], email_digests: [details.email_digest], sole_makers: [] }
    return { ...details, ...since, added_at: occurred_at, ended_at: null, erased: false, ...gone }
  }
  if (!user) return undefined
  switch (event.type) {
    case 'UserChanged': {
      const { type: _, made_by, ...details } = event
      const email_by = details.email_digest === user.email_digest ? user.email_by : (made_by ?? byActor)
      const email_digests = withOne(user.email_digests, details.email_digest)
      // Nobody has kept watch over what somebody had who comes back.
      const comesBack = isOver(user.ends_at, occurred_at) && !isOver(details.ends_at, occurred_at)
      return { ...user, ...details, email_by, email_digests, ...(comesBack && gone) }
    }
    case 'UserEnded':
      return { ...user, ended_at: occurred_at, ...gone }
    case 'UserErased':
      return { ...user, name: '', email: '', email_digest: '', email_digests: [], erased: true }
    case 'UserKeyMade': {
      const { key_id: id, key_digest, ends_at } = event
      const others = user.keys.filter((key) => !isOver(key.ends_at, occurred_at))
      const key = { id, key_digest, made_at: occurred_at, ends_at, made_by: event.made_by ?? byActor }
      return {
        ...user,
        sole_makers: withOne(user.sole_makers, soleMaker(key.made_by)),
        keys: [...others, key],
      }
    }
    case 'UserInvited':
      return {
        ...user,
        invitation: { digest: event.invitation_digest, ends_at: event.ends_at, made_by: event.made_by ?? byActor },
      }
    case 'UserLinked': {
      const { issuer, subject_digest, by_invitation, email_verified } = event
      const others = user.links.filter((link) => link.issuer !== issuer)
      const made_by = email_verified ? user.email_by : (user.invitation?.made_by ?? [])
      const links = [...others, { issuer, subject_digest, made_by }]
      return { ...user, links, had_own: true, invitation: by_invitation ? null : user.invitation }
    }
    case 'UserKeyEnded': {
      const { key_id, ends_at } = event
      const keys = user.keys.map((key) => (key.id === key_id ? { ...key, ends_at } : key))
      return { ...user, keys: keys.filter((key) => !isOver(key.ends_at, occurred_at)) }
    }
  }
}

/** In place of the name of somebody who was erased, or who is not known here: `person 7f3a9c21`. */
export const namelessUser = (id: string): string => `person ${id.slice(0, 8)}`

/** A user without what tells who they are: what every process keeps in memory. */
export type KnownUser = Omit<User, 'name' | 'email'> & { readonly id: UserId }

type KnownKey = { readonly user_id: string; readonly ends_at: string | null; readonly made_by: Makers }

export type Users = {
  readonly users: Map<string, KnownUser>
  /** The keys of all of them, by their digests. */
  readonly keys: Map<string, KnownKey>
  /** The ids of each organisation's users, in the order in which they were added; those of the installation under `''`. */
  readonly teams: Map<string, readonly string[]>
}

export const noUsers = (): Users => ({ users: new Map(), keys: new Map(), teams: new Map() })

const teamKey = (organisation_id: string | null): string => organisation_id ?? ''

/** The users of an organisation, or of the installation, who were not erased. */
export const teamOf = ({ users, teams }: Users, organisation_id: string | null): readonly KnownUser[] =>
  (teams.get(teamKey(organisation_id)) ?? []).flatMap((id) => users.get(id) ?? [])

type OfStream = { readonly stream: string; readonly metadata: Recorded }

const remove = ({ users, keys, teams }: Users, { id, organisation_id, keys: own }: KnownUser): void => {
  users.delete(id)
  for (const { key_digest } of own) keys.delete(key_digest)
  const team = teamKey(organisation_id)
  teams.set(
    team,
    (teams.get(team) ?? []).filter((other) => other !== id),
  )
}

const put = ({ users, keys, teams }: Users, before: KnownUser | undefined, after: KnownUser): void => {
  for (const { key_digest } of before?.keys ?? []) keys.delete(key_digest)
  for (const { key_digest, ends_at, made_by } of after.keys)
    keys.set(key_digest, { user_id: after.id, ends_at, made_by })
  users.set(after.id, after)
  const team = teamKey(after.organisation_id)
  const ids = teams.get(team) ?? []
  if (!before && !ids.includes(after.id)) teams.set(team, [...ids, after.id])
}

/** Applies events to the users, in place. Names and addresses are left out: snapshots of this must not hold them. */
export const usersFold = {
  name: 'users',
  version: 4,
  categories: ['user'],
  events: userEvents,
  apply: (all: Users, event: UserEvent, { stream, metadata }: OfStream): void => {
    const id = UserId.parse(idOf(stream))
    const before = all.users.get(id)
    const after = foldUser(before && { ...before, name: '', email: '' }, event, metadata)
    if (!after) return
    const { name: _, email: __, ...kept } = after
    if (after.erased) remove(all, { ...kept, id })
    else put(all, before, { ...kept, id })
  },
}
