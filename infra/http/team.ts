import type { OrganisationId, UserId, UserRole } from '#domain/values.ts'

/** The roles that a route names. Auditors read what others may read, and so need not be named. */
export type TeamRole = Exclude<UserRole, 'auditor'>

/** Open to people with one of these roles, each within the organisation that they belong to. */
export type TeamAccess = {
  readonly kind: 'team'
  readonly roles: readonly TeamRole[]
  /** Each answer is recorded then, and auditors who may not see personal values are refused. */
  readonly showsPersonalData: boolean
  /** True where it is for auditors of the organisation although nobody else of it may call. */
  readonly forAuditors?: true
  /** True where it shows who was shown what: that is recorded, too, although no personal value is among it. */
  readonly showsAccesses?: true
  /** True for a request that is no GET and still only shows something: a read-only key will do. */
  readonly changesNothing?: true
  /** True where a page asks by itself, whether somebody is there or not: it does not keep a session from ending. */
  readonly inBackground?: true
}

/** A person of a team, as far as what they may do depends on it. */
export type TeamUser = {
  readonly id: UserId
  /** Null: of the installation. */
  readonly organisation_id: OrganisationId | null
  readonly roles: readonly UserRole[]
  readonly sees_personal_data: boolean
}

export type TeamSpec = { readonly method: string; readonly access: TeamAccess }

/** The roles that may call a route: of its organisation, and of the installation. */
export const rolesFor = ({ method, access }: TeamSpec) => {
  const own = access.roles.filter((role) => role !== 'operator')
  const readers = method === 'get' || (access.changesNothing && access.forAuditors) ? (['auditor'] as const) : []
  return {
    organisation: own.length === 0 && !access.forAuditors ? [] : [...own, ...readers],
    installation: [...access.roles.filter((role) => role === 'operator'), ...readers],
  }
}

/** Of a person: true where they may call the route, and else what is lacking. */
export const mayCall = (spec: TeamSpec, user: Omit<TeamUser, 'id'>): true | 'role' | 'personal data' => {
  const roles = rolesFor(spec)
  const wanted: readonly UserRole[] = user.organisation_id === null ? roles.installation : roles.organisation
  const held = user.roles.filter((role) => wanted.includes(role))
  if (held.length === 0) return 'role'
  const isHidden = spec.access.showsPersonalData && !user.sees_personal_data
  return isHidden && held.every((role) => role === 'auditor') ? 'personal data' : true
}

/** True where a record of this organisation is there for whoever asks: to a person of another it is not. */
export const isWithin = (
  { user }: { readonly user?: Pick<TeamUser, 'organisation_id'> | undefined },
  organisation_id: string,
): boolean => user === undefined || user.organisation_id === null || user.organisation_id === organisation_id

/** A key that is a program's, and that opens only what the role `operator` does. */
export const opensForInstallation = ({ access }: Pick<TeamSpec, 'access'>): boolean => access.roles.includes('operator')

/** The roles as a sentence names them: `owner, leads or auditor of the organisation, or auditor of the installation`. */
export const namedRoles = (spec: TeamSpec): string => {
  const { organisation, installation } = rolesFor(spec)
  const named = [
    organisation.length > 0 && `${listed(organisation)} of the organisation`,
    installation.length > 0 && `${listed(installation)} of the installation`,
  ]
  return named.filter((part) => part !== false).join(', or ')
}

const listed = (roles: readonly string[]): string =>
  roles.length < 2 ? roles.join('') : `${roles.slice(0, -1).join(', ')} or ${roles.at(-1) ?? ''}`
