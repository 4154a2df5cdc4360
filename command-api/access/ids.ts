import { OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'

/** The id of an organisation for which none was given. */
export const organisationIdOf = (slug: string): OrganisationId => OrganisationId.parse(derivedId('organisation', slug))
