import { z } from 'zod'
import { event, type EventOf } from '../event.ts'
import { OrganisationId, UserRole } from '../values.ts'

export const SignInProviderId = z.uuid().brand<'SignInProviderId'>()
export type SignInProviderId = z.infer<typeof SignInProviderId>

/** Stream `sign_in_provider-<id>`, the id made from the team and the name: it signs in the people of that team alone. */
export const signInProviderEvents = {
  SignInProviderSet: event({
    sign_in_provider_id: SignInProviderId,
    /** Null: of the installation. */
    organisation_id: OrganisationId.nullable(),
    name: z.string(),
    issuer: z.string(),
    client_id: z.string(),
    sealed_secret: z.string().min(1),
    /** The claim that says what somebody is, and the roles that each of its values gives. */
    roles_claim: z.string(),
    roles_of: z.array(z.object({ value: z.string(), roles: z.array(UserRole) })),
  }),
  SignInProviderRemoved: event({ sign_in_provider_id: SignInProviderId }),
}
export type SignInProviderEvent = EventOf<typeof signInProviderEvents>
