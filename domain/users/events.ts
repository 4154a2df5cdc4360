import { z } from 'zod'
import { Actor, event, personal, type EventOf, type Json } from '../event.ts'
import { OrganisationId, UserId, UserRole } from '../values.ts'

export const UserKeyId = z.uuid().toLowerCase().brand<'UserKeyId'>()
export type UserKeyId = z.infer<typeof UserKeyId>

const details = {
  name: personal(z.string()),
  email: personal(z.string()),
  /** A keyed hash, by which the address is found without being kept in memory. */
  email_digest: personal(z.string()),
  roles: z.array(UserRole),
  /** Of those who are auditors and nothing else: all others see what their work needs. */
  sees_personal_data: z.boolean(),
  /** In real time; null when they stay until they are ended. */
  ends_at: z.iso.datetime().nullable(),
}
/**
 * Who did it, and who made the key that they did it with: of a key, everybody who may hold it beside its user. Null on events of
 * before: it was their actor.
 */
const made_by = z.array(Actor).nullable()
const madeByActor = (v1: Json): Json => ({ ...v1, made_by: null })
const alsoOfInstallation = { alsoOfInstallation: true } as const

/** Stream `user-<id>`: a person of the team of the organisation, or of the installation where the event belongs to none. */
export const userEvents = {
  UserAdded: event(
    {
      organisation_id: OrganisationId.nullable(),
      ...details,
      /** Under another id, somebody with this email had a way in of their own. */
      had_own: z.boolean(),
    },
    { ...alsoOfInstallation, upcasts: [(v1) => ({ ...v1, had_own: false })] },
  ),
  UserChanged: event({ ...details, made_by }, { ...alsoOfInstallation, upcasts: [madeByActor] }),
  UserEnded: event({ user_id: UserId }),
  /** Name and address can be read no more: their key is gone. */
  UserErased: event({ user_id: UserId }),
  UserKeyMade: event(
    {
      key_id: UserKeyId,
      /** SHA-256 of the key, which is too long to be guessed; the key itself is shown once and kept nowhere. */
      key_digest: z.string(),
      ends_at: z.iso.datetime().nullable(),
      made_by,
    },
    { upcasts: [madeByActor] },
  ),
  /** Whoever shows the invitation first is linked to the user. It takes the place of the one before. */
  UserInvited: event({ invitation_digest: z.string(), ends_at: z.iso.datetime(), made_by }, { upcasts: [madeByActor] }),
  /** A sign-in provider knows the user by this name of its own. */
  UserLinked: event(
    {
      issuer: z.string(),
      subject: personal(z.string()),
      /** A keyed hash of both, by which the user is found. */
      subject_digest: personal(z.string()),
      by_invitation: z.boolean(),
      /** The provider has verified that the email of the user is theirs. */
      email_verified: z.boolean(),
    },
    { ...alsoOfInstallation, upcasts: [(v1) => ({ ...v1, email_verified: v1['by_invitation'] === false })] },
  ),
  /** The end of a key is moved: to this moment, or to that at which one is replaced for good. */
  UserKeyEnded: event({ key_id: UserKeyId, ends_at: z.iso.datetime() }),
}
export type UserEvent = EventOf<typeof userEvents>
