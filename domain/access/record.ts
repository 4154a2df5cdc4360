import { z } from 'zod'
import { ApiApplicationId, CurrencyCode, OrganisationId } from '../values.ts'
import {
  apiApplicationEvents,
  organisationEvents,
  Scope,
  type ApiApplicationEvent,
  type OrganisationEvent,
} from './events.ts'

export const Organisation = z.object({
  id: OrganisationId,
  slug: z.string(),
  name: z.string(),
  currency_code: CurrencyCode,
  time_zone: z.string().describe('IANA name, for example `Europe/London`.'),
  stripe_test_mode: z.boolean().describe('Payments use the provider’s test account, and sandbox products can be sold.'),
  active: z.boolean().describe('While it is not, every API request of its applications is answered 403.'),
})
export type Organisation = Readonly<z.infer<typeof Organisation>>

/** Of an organisation that does not say. */
export const defaultTimeZone = 'Europe/London'

/** Decides today's date for an organisation; one that this process has not read yet has the default. */
export const timeZoneOf = (
  organisations: ReadonlyMap<string, Pick<Organisation, 'time_zone'>>,
  organisation_id: string,
): string => organisations.get(organisation_id)?.time_zone ?? defaultTimeZone

/** The same of its currency. */
export const currencyOf = (
  organisations: ReadonlyMap<string, Pick<Organisation, 'currency_code'>>,
  organisation_id: string,
): string => organisations.get(organisation_id)?.currency_code ?? 'GBP'

/** A server-only application has no allowed origins; a browser application has one or more. */
export const ApplicationKind = z.enum(['server', 'browser'])
export type ApplicationKind = z.infer<typeof ApplicationKind>

export type FormerSecret = { readonly secret_hash: string; readonly epoch: number; readonly ends_at: string }

export type ApiApplication = {
  readonly id: ApiApplicationId
  readonly organisation_id: OrganisationId
  readonly name: string
  readonly kind: ApplicationKind
  readonly scopes: readonly Scope[]
  readonly allowed_origins: readonly string[]
  readonly secret_hash: string
  /** The secret before a rotation with an overlap, and the epoch of the tokens issued with it, until it ends. */
  readonly former: FormerSecret | null
  /** Goes up when the secret is rotated, a scope removed or the application deleted: older tokens are then revoked. */
  readonly epoch: number
  readonly deleted: boolean
}

/** The former secret of an application while it still works at this instant of real time. */
export const formerInForce = <Former extends Pick<FormerSecret, 'ends_at'>>(
  { former }: { readonly former: Former | null },
  now: number,
): Former | undefined => (former && Date.parse(former.ends_at) > now ? former : undefined)

export const kindOf = (allowedOrigins: readonly string[]): ApplicationKind =>
  allowedOrigins.length === 0 ? 'server' : 'browser'

export const foldOrganisation = (
  organisation: Organisation | undefined,
  event: OrganisationEvent,
): Organisation | undefined => {
  if (event.type === 'OrganisationRegistered') {
    const { organisation_id: id, slug, name, currency_code, time_zone, stripe_test_mode } = event
    return { id, slug, name, currency_code, time_zone, stripe_test_mode, active: true }
  }
  if (!organisation) return undefined

  switch (event.type) {
    case 'OrganisationChanged': {
      const { name, currency_code, time_zone, stripe_test_mode } = event
      return { ...organisation, name, currency_code, time_zone, stripe_test_mode }
    }
    case 'OrganisationActivated':
      return { ...organisation, active: true }
    case 'OrganisationDeactivated':
      return { ...organisation, active: false }
  }
}

export const foldApiApplication = (
  application: ApiApplication | undefined,
  event: ApiApplicationEvent,
): ApiApplication | undefined => {
  if (event.type === 'ApiApplicationCreated') {
    const { api_application_id: id, organisation_id, name, scopes, allowed_origins, secret_hash } = event
    const created = { id, organisation_id, name, scopes, allowed_origins, secret_hash, kind: kindOf(allowed_origins) }
    // One that was deleted can be created again; what was issued before stays revoked.
    return { ...created, former: null, epoch: application?.epoch ?? 0, deleted: false }
  }
  if (!application) return undefined

  const { epoch, former, secret_hash } = application
  switch (event.type) {
    case 'ApiApplicationChanged': {
      const { name, scopes, allowed_origins } = event
      const losesScope = application.scopes.some((scope) => !scopes.includes(scope))
      const kind = kindOf(allowed_origins)
      const next = { ...application, name, scopes, allowed_origins, kind }
      if (!losesScope) return next
      return former
        ? { ...next, former: { ...former, epoch: epoch + 1 }, epoch: epoch + 2 }
        : { ...next, epoch: epoch + 1 }
    }
    case 'ApiApplicationSecretRotated':
      return {
        ...application,
        secret_hash: event.secret_hash,
        former: event.former_ends_at === null ? null : { secret_hash, epoch, ends_at: event.former_ends_at },
        epoch: epoch + 1,
      }
    case 'ApiApplicationDeleted':
      return { ...application, former: null, epoch: epoch + 1, deleted: true }
  }
}

/**
 * The callers, kept in memory by every process. Its entries are replaced, never changed: an entry that was read shows one
 * moment.
 */
export type Directory = {
  readonly organisations: Map<string, Organisation>
  /** Deleted ones too, so that their tokens are known for what they are. */
  readonly applications: Map<string, ApiApplication>
  /** Each origin that a browser application allows, with the number of those that do. */
  readonly origins: Map<string, number>
  /** The last revision of each stream that has been counted: a log may give an event twice. */
  readonly revisions: Map<string, number>
}

export const emptyDirectory = (): Directory => ({
  organisations: new Map(),
  applications: new Map(),
  origins: new Map(),
  revisions: new Map(),
})

const countOrigins = (origins: Map<string, number>, application: ApiApplication | undefined, by: 1 | -1): void => {
  if (!application || application.deleted) return
  for (const origin of application.allowed_origins) {
    const count = (origins.get(origin) ?? 0) + by
    if (count > 0) origins.set(origin, count)
    else origins.delete(origin)
  }
}

const applyToOrganisation = ({ organisations }: Directory, event: OrganisationEvent): void => {
  const organisation = foldOrganisation(organisations.get(event.organisation_id), event)
  if (organisation) organisations.set(organisation.id, organisation)
}

const applyToApplication = ({ applications, origins }: Directory, event: ApiApplicationEvent): void => {
  const id = event.api_application_id
  const before = applications.get(id)
  const after = foldApiApplication(before, event)
  if (!after) return
  applications.set(id, after)
  countOrigins(origins, before, -1)
  countOrigins(origins, after, 1)
}

const isOfOrganisation = (event: OrganisationEvent | ApiApplicationEvent): event is OrganisationEvent =>
  event.type in organisationEvents

/** Applies events to the directory, in place. */
export const directoryFold = {
  name: 'access-directory',
  version: 2,
  categories: ['organisation', 'api_application'],
  events: { ...organisationEvents, ...apiApplicationEvents },
  apply: (
    directory: Directory,
    event: OrganisationEvent | ApiApplicationEvent,
    { stream, revision }: { readonly stream: string; readonly revision: number },
  ): void => {
    if (revision <= (directory.revisions.get(stream) ?? -1)) return
    directory.revisions.set(stream, revision)
    if (isOfOrganisation(event)) applyToOrganisation(directory, event)
    else applyToApplication(directory, event)
  },
} as const
