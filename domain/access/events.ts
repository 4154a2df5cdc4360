import { z } from 'zod'
import { event, type EventOf } from '../event.ts'
import { ApiApplicationId, CurrencyCode, OrganisationId } from '../values.ts'

export const Scope = z.enum(['read', 'write', 'crm', 'outcomes'])
export type Scope = z.infer<typeof Scope>

/** Stream `organisation-<organisation id>`. */
export const organisationEvents = {
  OrganisationRegistered: event({
    organisation_id: OrganisationId,
    slug: z.string(),
    name: z.string(),
    currency_code: CurrencyCode,
    time_zone: z.string(),
    /** Payments use the provider's test account, and sandbox products can be sold. */
    stripe_test_mode: z.boolean(),
  }),
  OrganisationChanged: event({
    organisation_id: OrganisationId,
    name: z.string(),
    currency_code: CurrencyCode,
    time_zone: z.string(),
    stripe_test_mode: z.boolean(),
  }),
  OrganisationActivated: event({ organisation_id: OrganisationId }),
  OrganisationDeactivated: event({ organisation_id: OrganisationId }),
}
export type OrganisationEvent = EventOf<typeof organisationEvents>

/** Stream `api_application-<api application id>`; the id is also the OAuth client_id. */
export const apiApplicationEvents = {
  ApiApplicationCreated: event({
    organisation_id: OrganisationId,
    api_application_id: ApiApplicationId,
    name: z.string(),
    scopes: z.array(Scope),
    /** None: a server-only application. Otherwise a browser application, used from these pages. */
    allowed_origins: z.array(z.string()),
    /** A salted scrypt hash; the secret itself is shown once and kept nowhere. */
    secret_hash: z.string(),
  }),
  /** Every token issued before ends where this takes a scope away. */
  ApiApplicationChanged: event({
    api_application_id: ApiApplicationId,
    name: z.string(),
    scopes: z.array(Scope),
    allowed_origins: z.array(z.string()),
  }),
  /** The former secret and its tokens go on until `former_ends_at`, in real time; null: they end here. */
  ApiApplicationSecretRotated: event(
    {
      api_application_id: ApiApplicationId,
      secret_hash: z.string(),
      former_ends_at: z.iso.datetime().nullable(),
    },
    { upcasts: [(data) => ({ ...data, former_ends_at: null })] },
  ),
  ApiApplicationDeleted: event({ api_application_id: ApiApplicationId }),
}
export type ApiApplicationEvent = EventOf<typeof apiApplicationEvents>
