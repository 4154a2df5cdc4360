import { z } from 'zod'
import { Scope } from '#domain/access/events.ts'
import {
  ApplicationKind,
  defaultTimeZone,
  formerInForce,
  type ApiApplication as ApiApplicationRecord,
} from '#domain/access/record.ts'
import { ApiApplicationId, CurrencyCode, OrganisationId, Slug } from '#domain/values.ts'
import { realNow } from '#infra/clock.ts'
import { orMissing } from '../setup-file/missing-secret.ts'

const Name = z.string().trim().min(1).max(200)

/** The documented pattern, a little narrower than the rule itself, which is the domain's. */
const originPattern = '^(https://([a-z0-9]+\\.)*[a-z]+|http://localhost)(:[1-9][0-9]{1,3})?$'

const details = {
  name: Name,
  currency_code: CurrencyCode,
  time_zone: z
    .string()
    .meta({ enum: Intl.supportedValuesOf('timeZone') })
    .describe('IANA name, for example `Europe/London`.'),
  stripe_test_mode: z.boolean().describe('Payments use the provider’s test account, and sandbox products can be sold.'),
}

export const NewOrganisation = z.object({
  id: OrganisationId.optional().describe('Follows from the slug when it is not given.'),
  slug: Slug,
  ...details,
  currency_code: details.currency_code.default('GBP'),
  time_zone: details.time_zone.default(defaultTimeZone),
  stripe_test_mode: details.stripe_test_mode.default(false),
  active: z.boolean().default(true).describe('While it is not, every API request of its applications is answered 403.'),
})

/** The organisation of a set-up file. */
export const DeclaredOrganisation = NewOrganisation.extend({
  currency_code: details.currency_code.optional(),
  time_zone: details.time_zone.optional(),
  stripe_test_mode: details.stripe_test_mode.optional(),
  active: z.boolean().optional().describe('While it is not, every API request of its applications is answered 403.'),
})
export type DeclaredOrganisation = z.output<typeof DeclaredOrganisation>

export const OrganisationChanges = z.object(details).partial()

const grant = {
  name: Name,
  scopes: z.array(Scope).min(1).describe('A browser application can hold only read and write.'),
  allowed_origins: z
    .array(z.string().meta({ pattern: originPattern }))
    .describe('Pages that may use it, each as scheme, host and port. None: a server-only application.'),
}

export const NewApiApplication = z.object({
  ...grant,
  allowed_origins: grant.allowed_origins.default([]),
})

const mostOverlap = 30 * 86_400

export const SecretRotation = z.object({
  overlap_seconds: z
    .int()
    .min(0)
    .max(mostOverlap)
    .default(0)
    .describe('For how long the former secret, and the tokens issued with it, go on; 0 ends them at once.'),
})

export const ApiApplicationChanges = z.object(grant).partial()

/** An API application of a set-up file. */
export const DeclaredApiApplication = NewApiApplication.extend({
  client_id: ApiApplicationId.optional().describe('Follows from the organisation and the name when it is not given.'),
  client_secret: orMissing(z.string().min(16)).optional().describe('Made and shown once when it is not given.'),
})
export type DeclaredApiApplication = z.output<typeof DeclaredApiApplication>

export const ApiApplication = z
  .object({
    client_id: ApiApplicationId,
    organisation_id: OrganisationId,
    name: z.string(),
    kind: ApplicationKind,
    scopes: z.array(Scope),
    allowed_origins: z.array(z.string()),
    former_secret_ends_at: z.iso
      .datetime()
      .nullable()
      .describe('Until when the secret before the last rotation works; null when it does not.'),
  })
  .meta({ id: 'ApiApplication' })

export const ApiApplicationWithSecret = ApiApplication.extend({
  client_secret: z.string().describe('Shown now and never again.'),
}).meta({ id: 'ApiApplicationWithSecret' })

export const apiApplicationView = (application: ApiApplicationRecord): z.input<typeof ApiApplication> => {
  const { id: client_id, organisation_id, name, kind, scopes, allowed_origins } = application
  const former_secret_ends_at = formerInForce(application, realNow())?.ends_at ?? null
  const lists = { scopes: [...scopes], allowed_origins: [...allowed_origins] }
  return { client_id, organisation_id, name, kind, ...lists, former_secret_ends_at }
}
