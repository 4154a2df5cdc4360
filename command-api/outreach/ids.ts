import { OutreachStreamId, type CustomerId, type OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'

/** A stream is known by its slug within the organisation: its event stream is the index of slugs. */
export const outreachStreamIdOf = (organisation_id: OrganisationId, slug: string): OutreachStreamId =>
  OutreachStreamId.parse(derivedId('outreach_stream', organisation_id, slug))

/** A person is in a stream once. */
export const outreachMemberIdOf = (
  organisation_id: OrganisationId,
  stream_id: string,
  contact_id: CustomerId,
): string => derivedId('outreach_member', organisation_id, stream_id, contact_id)

/** A message is written, sent and counted once: channels and writers know a repeated one by this id. */
export const outreachMessageIdOf = (member_id: string, role: string, number: number): string =>
  derivedId('outreach_message', member_id, role, String(number))
