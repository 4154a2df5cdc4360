import { z } from 'zod'
import { Actor } from '#domain/event.ts'
import { UserKeyId } from '#domain/users/events.ts'
import { isOver, isUserInForce, namelessUser, type User as UserRecord } from '#domain/users/record.ts'
import { InstallationRole, OrganisationId, OrganisationRole, SentInstant, UserId, UserRole } from '#domain/values.ts'
import { EmailAddress } from '../email-address.ts'

const Name = z.string().trim().min(1).max(100)

const rolesOf = <Role extends z.ZodEnum>(role: Role) =>
  z
    .array(role)
    .min(1)
    .max(role.options.length)
    .refine((roles) => new Set<unknown>(roles).size === roles.length, 'must not hold a role twice')

const details = {
  name: Name,
  email: EmailAddress,
  sees_personal_data: z
    .boolean()
    .default(false)
    .describe('Of auditors: whether they see personal values. All other roles see what their work needs.'),
  ends_at: SentInstant.nullable().default(null).describe('Null: they stay until they are ended.'),
}

export const NewUser = {
  organisation: z.object({ ...details, roles: rolesOf(OrganisationRole) }),
  installation: z.object({ ...details, roles: rolesOf(InstallationRole) }),
}

const changes = {
  name: Name.optional(),
  email: EmailAddress.optional(),
  sees_personal_data: z.boolean().optional(),
  ends_at: SentInstant.nullable().optional(),
}

const seen = 'The roles that were seen: where they are others by now, it is refused (409).'

export const UserChanges = {
  organisation: z.object({
    ...changes,
    roles: rolesOf(OrganisationRole).optional(),
    from_roles: rolesOf(OrganisationRole).optional().describe(seen),
  }),
  installation: z.object({
    ...changes,
    roles: rolesOf(InstallationRole).optional(),
    from_roles: rolesOf(InstallationRole).optional().describe(seen),
  }),
}

/** A person as a set-up file names them: without an end, and without keys, which are never in a file. */
export const DeclaredUser = z.object({
  name: Name,
  email: EmailAddress,
  roles: rolesOf(OrganisationRole),
  sees_personal_data: details.sees_personal_data,
})
export type DeclaredUser = z.output<typeof DeclaredUser>

const mostOverlap = 7 * 24 * 60 * 60

export const NewUserKey = z.object({
  ends_at: SentInstant.nullable().default(null).describe('Null: it lasts until it is ended.'),
})
export const UserKeyRotation = NewUserKey.extend({
  overlap_seconds: z
    .int()
    .min(0)
    .max(mostOverlap)
    .default(0)
    .describe('For how long the former key goes on; 0 ends it at once.'),
})

const UserKey = z.object({
  id: UserKeyId,
  made_at: z.iso.datetime(),
  ends_at: z.iso.datetime().nullable(),
  made_by: z.array(Actor).describe('Who made it, and who made the key that they made it with.'),
})

export const User = z
  .object({
    id: UserId,
    organisation_id: OrganisationId.nullable().describe('Null: of the installation.'),
    name: z.string().describe('Of somebody who was erased, a part of their id.'),
    email: z.string().nullable(),
    roles: z.array(UserRole),
    sees_personal_data: z.boolean(),
    added_at: z.iso.datetime(),
    ends_at: z.iso.datetime().nullable(),
    in_force: z.boolean(),
    erased: z.boolean(),
    linked_at: z.array(z.string()).describe('The issuers of the providers by which they sign in.'),
    keys: z.array(UserKey).describe('Those that have not ended, without the keys themselves.'),
  })
  .meta({ id: 'User' })

export const InvitedUser = User.extend({
  invitation: z.string().describe('For POST /admin/v1/session/provider. Shown now and never again.'),
  invited_until: z.iso.datetime(),
}).meta({ id: 'InvitedUser' })

export const UserWithKey = User.extend({ key: z.string().describe('Shown now and never again.') }).meta({
  id: 'UserWithKey',
})

export const userView = (id: UserId, user: UserRecord, realNow: string): z.input<typeof User> => ({
  id,
  organisation_id: user.organisation_id,
  name: user.name === '' ? namelessUser(id) : user.name,
  email: user.email === '' ? null : user.email,
  roles: [...user.roles],
  sees_personal_data: user.sees_personal_data,
  added_at: user.added_at,
  ends_at: user.ended_at ?? user.ends_at,
  in_force: isUserInForce(user, realNow),
  erased: user.erased,
  linked_at: user.links.map(({ issuer }) => issuer),
  keys: user.keys
    .filter(({ ends_at }) => !isOver(ends_at, realNow))
    .map(({ id: key, made_at, ends_at, made_by }) => ({ id: key, made_at, ends_at, made_by: [...made_by] })),
})
