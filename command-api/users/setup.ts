import { z } from 'zod'
import { teamOf } from '#domain/users/record.ts'
import { comparedEmail } from '../email-address.ts'
import { OrganisationRole, type OrganisationId } from '#domain/values.ts'
import {
  inOrderOf,
  reportRefusal,
  type SetupContext,
  type SetupSection,
  type SetupStep,
  type Whole,
} from '../setup-file/section.ts'
import { DeclaredUser } from './inputs.ts'
import { makeTeam, realNow, type UserDeps } from './team.ts'

/**
 * The first people of an organisation, found by their email. Their keys are never in a file. One who has ended stays so,
 * however often the file is applied. Whoever ends on a day is not exported: a file cannot say when.
 */
export const usersSection = (deps: UserDeps): SetupSection<DeclaredUser> => {
  const { add, change, emailDigest, isLastOwnerBy, load, preview, withEmail } = makeTeam(deps)

  /** An organisation that has nobody yet needs no keys to compare with. */
  const findKnown = async (organisation_id: OrganisationId, email: string) => {
    if (teamOf(deps.users, organisation_id).length === 0) return undefined
    const found = withEmail(organisation_id, await emailDigest(organisation_id, email))
    return found.find(({ ended_at }) => ended_at === null) ?? found.at(-1)
  }

  const planOne = async (declared: DeclaredUser, { organisation_id, context }: SetupContext): Promise<SetupStep> => {
    const what = `user ${declared.email}`
    const inRealTime = () => ({ ...context, now: realNow() })
    const known = await findKnown(organisation_id, declared.email)
    if (!known) {
      const apply = async () => {
        await add(organisation_id, { ...declared, ends_at: null }, inRealTime())
      }
      return { what, change: 'create', details: [`roles: ${declared.roles.join(', ')}`], apply }
    }
    const unchanged = { what, change: 'none', details: [], apply: async () => undefined } as const
    if (known.ended_at !== null) return { ...unchanged, details: ['has ended, and stays so'] }
    const { name, roles, sees_personal_data } = declared
    const before = await load(known.id)
    const changes = { name, roles: sameRoles(before?.roles, roles) ? undefined : roles, sees_personal_data }
    const isLastOwner = await isLastOwnerBy(known.id, organisation_id, inRealTime())
    const command = { type: 'ChangeUser', ...changes, made_by: [], real_now: realNow(), isLastOwner } as const
    const decided = await preview(known.id, command)
    if (decided.length === 0) return unchanged
    const apply = async () => {
      await change(known.id, organisation_id, changes, inRealTime())
    }
    return { what, change: 'change', details: [`roles: ${roles.join(', ')}`], apply }
  }

  return {
    key: 'users',
    schema: DeclaredUser,
    plan: async (declared, setup) => {
      const plans = declared.map(async (each, index) => {
        const earlier = declared.findIndex(({ email }) => comparedEmail(email) === comparedEmail(each.email))
        if (earlier !== index) {
          setup.report([index, 'email'], `is that of users[${earlier}]`)
          return undefined
        }
        return reportRefusal(setup, [index], () => planOne(each, setup))
      })
      return (await Promise.all(plans)).filter((step) => step !== undefined)
    },
    exported: async ({ organisation_id, shows }) => {
      const written: Whole<z.input<typeof DeclaredUser>>[] = []
      for (const { id } of teamOf(deps.users, organisation_id)) {
        const user = await load(id)
        if (!user || user.name === '' || user.ended_at !== null || user.ends_at !== null) continue
        shows(id)
        const { name, email, roles, sees_personal_data } = user
        written.push({ name, email, roles: OrganisationRoles.parse(roles), sees_personal_data })
      }
      return inOrderOf(written, ({ email }) => email.toLowerCase())
    },
  }
}

/** Of a user of an organisation, they are no others. */
const OrganisationRoles = z.array(OrganisationRole)

/** The order in which roles are listed says nothing. */
const sameRoles = (one: readonly string[] = [], other: readonly string[]): boolean =>
  one.length === other.length && one.every((role) => other.includes(role))
