import type { Decider } from '../decider.ts'
import { isSameJson } from '../canonical-json.ts'
import { Rejection, notFound } from '../rejection.ts'
import type { OrganisationId, UserId, UserRole } from '../values.ts'
import { userEvents, type UserEvent, type UserKeyId } from './events.ts'
import { isOwn, type Makers } from '../makers.ts'
import { foldUser, hadOwn, isOver, isUserInForce, type User } from './record.ts'

export const mostKeys = 5

export type UserDetails = Pick<User, 'name' | 'email' | 'email_digest' | 'roles' | 'sees_personal_data' | 'ends_at'>

/** An undefined detail stays as it is. */
export type UserChanges = { readonly [Name in keyof UserDetails]?: UserDetails[Name] | undefined }

/** Real time: nobody's end depends on business time. */
type At = {
  readonly real_now: string
  /** True where an owner does it and nobody else of the organisation is one. */
  readonly isLastOwner?: boolean
}

export type UserCommand =
  | ({
      readonly type: 'AddUser'
      readonly organisation_id: OrganisationId | null
      /** Under another id, somebody with this email had a way in of their own. */
      readonly had_own: boolean
    } & UserDetails &
      At)
  /** Who makes the change comes first. */
  | ({
      readonly type: 'ChangeUser'
      readonly made_by: Makers
      /** The roles that whoever makes the change has seen. */
      readonly from_roles?: readonly UserRole[] | undefined
    } & UserChanges &
      At)
  | ({ readonly type: 'EndUser'; readonly user_id: UserId } & At)
  | { readonly type: 'EraseUser'; readonly user_id: UserId }
  | ({
      readonly type: 'MakeUserKey'
      readonly key_id: UserKeyId
      readonly key_digest: string
      readonly ends_at: string | null
      /** The key in whose place it comes, and until when that one still works. */
      readonly replaces?: { readonly key_id: UserKeyId; readonly ends_at: string }
      readonly user_id: UserId
      /** Who makes it comes first. */
      readonly made_by: Makers
    } & At)
  | ({
      readonly type: 'InviteUser'
      readonly invitation_digest: string
      readonly ends_at: string
      readonly made_by: Makers
    } & At)
  | ({
      readonly type: 'LinkUser'
      readonly issuer: string
      readonly subject: string
      readonly subject_digest: string
      /** Null: they are known by an email that the provider has verified. */
      readonly invitation_digest: string | null
      /** The provider has verified that the email of the user is theirs. */
      readonly email_verified: boolean
    } & At)
  | ({ readonly type: 'EndUserKey'; readonly key_id: UserKeyId } & At)

type Decision = readonly UserEvent[]

const decide = (command: UserCommand, user: User | undefined): Decision => {
  if (command.type === 'AddUser') return add(command, user)
  if (!user) throw notFound('user')
  switch (command.type) {
    case 'ChangeUser':
      return change(command, user)
    case 'EndUser':
      if (user.ended_at !== null) return []
      refuseLastOwner(command)
      return [{ type: 'UserEnded', user_id: command.user_id }]
    case 'EraseUser':
      if (user.ended_at === null)
        throw new Rejection('conflict', 'This user has not ended. End them first, and then erase them.')
      return user.erased ? [] : [{ type: 'UserErased', user_id: command.user_id }]
    case 'MakeUserKey':
      return makeKey(command, user)
    case 'InviteUser':
      return invite(command, user)
    case 'LinkUser':
      return link(command, user)
    case 'EndUserKey': {
      const key = user.keys.find(({ id }) => id === command.key_id)
      return key && !isOver(key.ends_at, command.real_now)
        ? [{ type: 'UserKeyEnded', key_id: key.id, ends_at: command.real_now }]
        : []
    }
  }
}

const refused = (field: string, reason: string) =>
  new Rejection('validation_failed', `Correct ${field} and send the request again.`, { [field]: reason })

const refuseLastOwner = ({ isLastOwner = false }: At): void => {
  if (isLastOwner)
    throw new Rejection('conflict', 'Nobody else is an owner of the organisation. Make somebody else an owner first.')
}

const add = (command: Extract<UserCommand, { type: 'AddUser' }>, user?: User): Decision => {
  const { organisation_id, had_own, name, email, email_digest, roles, sees_personal_data, ends_at, real_now } = command
  if (user) throw new Rejection('conflict', 'There is a user with this email already. List the users.')
  if (isOver(ends_at, real_now)) throw refused('ends_at', 'must be in the future')
  const details = { name, email, email_digest, roles: [...roles], sees_personal_data, ends_at }
  return [{ type: 'UserAdded', organisation_id, ...details, had_own }]
}

/** A colleague may have changed them meanwhile. */
const refuseOtherRoles = ({ roles }: User, seen: readonly UserRole[] | undefined): void => {
  if (seen === undefined || isSameJson(seen.toSorted(), roles.toSorted())) return
  throw new Rejection(
    'conflict',
    `The roles are ${roles.join(', ')} by now. Look at them again, and then change them.`,
    {
      from_roles: 'are not the roles that the user has now',
    },
  )
}

const change = (
  { real_now, isLastOwner = false, made_by, from_roles, ...changes }: Extract<UserCommand, { type: 'ChangeUser' }>,
  user: User,
): Decision => {
  if (user.ended_at !== null) throw new Rejection('conflict', 'This user has ended. Add them again.')
  refuseOtherRoles(user, from_roles)
  const { name, email, email_digest, roles, sees_personal_data, ends_at } = user
  const before = { name, email, email_digest, roles, sees_personal_data, ends_at }
  const after = {
    name: changes.name ?? name,
    email: changes.email ?? email,
    email_digest: changes.email_digest ?? email_digest,
    roles: changes.roles ?? roles,
    sees_personal_data: changes.sees_personal_data ?? sees_personal_data,
    ends_at: changes.ends_at === undefined ? ends_at : changes.ends_at,
  }
  if (isSameJson(before, after)) return []
  if (after.ends_at !== ends_at && isOver(after.ends_at, real_now)) throw refused('ends_at', 'must be in the future')
  const endsSooner = after.ends_at !== null && (ends_at === null || after.ends_at < ends_at)
  const stays = after.roles.includes('owner') && !endsSooner
  refuseLastOwner({ real_now, isLastOwner: isLastOwner && !stays })
  const changed = { type: 'UserChanged' as const, ...after, roles: [...after.roles], made_by: [...made_by] }
  if (!isOver(ends_at, real_now) || isOver(after.ends_at, real_now)) return [changed]
  // Whoever comes back does so with new keys.
  const keys = user.keys.filter((key) => !isOver(key.ends_at, real_now))
  return [...keys.map(({ id }) => ({ type: 'UserKeyEnded', key_id: id, ends_at: real_now }) as const), changed]
}

type MakeUserKey = Extract<UserCommand, { type: 'MakeUserKey' }>

/**
 * True where users make the first key that others have made for them their own: they replace it themselves, at once. Later, who
 * ends their keys could make another and replace it in their name.
 */
const takesOver = ({ user_id, made_by, replaces, real_now }: MakeUserKey, user: User): boolean =>
  replaces !== undefined &&
  isOver(replaces.ends_at, real_now) &&
  isOwn(user_id, made_by.slice(0, 1)) &&
  !isOwn(user_id, made_by) &&
  !hadOwn(user_id, user)

const makeKey = (command: MakeUserKey, user: User): Decision => {
  const { key_id, key_digest, ends_at, replaces, real_now } = command
  if (!isUserInForce(user, real_now))
    throw new Rejection('conflict', 'This user has ended, and so would the key. Add them again.')
  if (isOver(ends_at, real_now)) throw refused('ends_at', 'must be in the future')
  const isTakenOver = takesOver(command, user)
  const made_by = isTakenOver ? command.made_by.slice(0, 1) : [...command.made_by]
  const made = { type: 'UserKeyMade', key_id, key_digest, ends_at, made_by } as const
  const inForce = user.keys.filter((key) => !isOver(key.ends_at, real_now))
  if (!replaces) {
    if (inForce.length >= mostKeys)
      throw new Rejection('conflict', `This user has ${mostKeys} keys, which is the most. End one of them first.`)
    return [made]
  }
  const former = inForce.find(({ id }) => id === replaces.key_id)
  if (!former) throw notFound('key')
  // With an overlap, both count.
  if (!isOver(replaces.ends_at, real_now) && inForce.length >= mostKeys)
    throw new Rejection('conflict', `This user has ${mostKeys} keys, which is the most. End one of them first.`)
  const end = former.ends_at !== null && former.ends_at < replaces.ends_at ? former.ends_at : replaces.ends_at
  // With all that others have made, so that whoever used one of them notices.
  const ended = isTakenOver ? inForce : [former]
  return [...ended.map(({ id }) => ({ type: 'UserKeyEnded', key_id: id, ends_at: end }) as const), made]
}

const invite = (
  { invitation_digest, ends_at, made_by, real_now }: Extract<UserCommand, { type: 'InviteUser' }>,
  user: User,
): Decision => {
  if (!isUserInForce(user, real_now))
    throw new Rejection('conflict', 'This user has ended. Add them again, and then invite them.')
  return [{ type: 'UserInvited', invitation_digest, ends_at, made_by: [...made_by] }]
}

const link = (
  {
    issuer,
    subject,
    subject_digest,
    invitation_digest,
    email_verified,
    real_now,
  }: Extract<UserCommand, { type: 'LinkUser' }>,
  user: User,
): Decision => {
  if (!isUserInForce(user, real_now)) throw new Rejection('forbidden', 'This user has ended. Ask an owner.')
  const former = user.links.find((each) => each.issuer === issuer)
  if (former?.subject_digest === subject_digest) return []
  const { invitation } = user
  const isInvited =
    invitation !== null && invitation.digest === invitation_digest && !isOver(invitation.ends_at, real_now)
  if (invitation_digest !== null && !isInvited)
    throw new Rejection('forbidden', 'The invitation was used, or has ended. Ask an owner for another.')
  // An address can be given to somebody else.
  if (invitation_digest === null && former)
    throw new Rejection(
      'forbidden',
      'The user with this email signs in by another account. Ask an owner to invite you.',
    )
  return [{ type: 'UserLinked', issuer, subject, subject_digest, by_invitation: isInvited, email_verified }]
}

export const user: Decider<UserCommand, typeof userEvents, User | undefined> = {
  category: 'user',
  events: userEvents,
  initialState: undefined,
  decide,
  evolve: foldUser,
}
