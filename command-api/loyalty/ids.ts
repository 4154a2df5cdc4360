import { MembershipId, ProgrammeId, type OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'

/** A programme is known by its slug within the organisation: its stream is the index of slugs. */
export const programmeIdOf = (organisation_id: OrganisationId, slug: string): ProgrammeId =>
  ProgrammeId.parse(derivedId('programme', organisation_id, slug))

/** A policy makes one member of a programme. */
export const membershipIdOf = (organisation_id: OrganisationId, programme_id: ProgrammeId, policyNumber: string) =>
  MembershipId.parse(derivedId('membership', organisation_id, programme_id, policyNumber))

/** An idempotency key belongs to its membership. */
export const entryIdOf = (organisation_id: OrganisationId, membership_id: MembershipId, key: string): string =>
  derivedId('membership_entry', organisation_id, membership_id, key)
