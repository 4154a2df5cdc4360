import type { HeldReason, LeadReference } from '#domain/outcomes/events.ts'
import { findableText } from '#domain/invisible-characters.ts'
import { CustomerId, type OrganisationId } from '#domain/values.ts'
import type { Leads } from '../leads/live-leads.ts'

/** Finds the owner of an email address or external id. */
type FindPerson = (wanted: {
  readonly organisation_id: OrganisationId
  readonly kind: 'email' | 'external_id'
  readonly value: string
}) => Promise<CustomerId | undefined>

export type MatchingDeps = {
  readonly leads: Pick<Leads, 'find'>
  readonly findPerson: FindPerson
  /** The people who can be reached under a number, at most a few. */
  readonly findByPhone: (organisation_id: OrganisationId, phone_number: string) => Promise<readonly CustomerId[]>
}

export type Match =
  | { readonly contact_id: CustomerId; readonly held: null }
  /** `isUnknownId`: it was named by an id that no lead has. */
  | { readonly contact_id: null; readonly held: HeldReason; readonly isUnknownId?: boolean }

/**
 * The lead that a report is about. Details find a lead only when it is the only one.
 * `sentBy` is given for a caller who may see only the leads that it sent: others are as if there were none.
 */
export const matchLead = async (
  { leads, findPerson, findByPhone }: MatchingDeps,
  organisation_id: OrganisationId,
  { contact_id, external_id, email, phone }: LeadReference,
  sentBy: string | undefined,
): Promise<Match> => {
  const visible = async (id: CustomerId | undefined): Promise<CustomerId | undefined> => {
    const state = id && (await leads.find(organisation_id, id))
    if (!state) return undefined
    const isVisible = sentBy === undefined || state.record.senders.some((sender) => sender === sentBy)
    return isVisible ? state.record.contact_id : undefined
  }

  /** As it came, it may be an id from before; or ours, of a lead whose sender keeps that as its own. */
  const byTheirId = async (value: string): Promise<CustomerId | undefined> =>
    (await findPerson({ organisation_id, kind: 'external_id', value: findableText(value) })) ??
    (await findPerson({ organisation_id, kind: 'external_id', value })) ??
    CustomerId.safeParse(findableText(value)).data

  if (contact_id !== null || external_id !== null) {
    const found = await visible(contact_id === null ? await byTheirId(external_id ?? '') : CustomerId.parse(contact_id))
    return found ? { contact_id: found, held: null } : { contact_id: null, held: 'no_match', isUnknownId: true }
  }
  const candidates = [
    ...(email === null ? [] : [await findPerson({ organisation_id, kind: 'email', value: email })]),
    ...(phone === null ? [] : await findByPhone(organisation_id, phone)),
  ]
  const found = new Set((await Promise.all(candidates.map(visible))).filter((id) => id !== undefined))
  const [only] = found
  if (only && found.size === 1) return { contact_id: only, held: null }
  return { contact_id: null, held: found.size === 0 ? 'no_match' : 'several_matches' }
}
