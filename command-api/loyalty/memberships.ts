import { EntriesUnknown, membership, noneKnown, type RecordEntries } from '#domain/loyalty/membership.ts'
import { memberReference } from '#domain/loyalty/member-reference.ts'
import { programmesOf, type Membership, type Programme } from '#domain/loyalty/record.ts'
import { Rejection } from '#domain/rejection.ts'
import { MembershipId, type OrganisationId, type ProgrammeId } from '#domain/values.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import { Problem } from '#infra/http/problem.ts'
import { commandHandler, type Context, type Writer } from '../writing/handle.ts'
import type { MembershipSnapshots } from './snapshots.ts'

export type MembershipDeps = {
  readonly writer: Writer
  readonly digest: DataKeys['digest']
  readonly programmes: ReadonlyMap<string, Programme>
  readonly snapshots: MembershipSnapshots
}

const attempts = 8

export type Found = { readonly membership: Membership; readonly programme: Programme }

/** At its address the other one is found. */
const idOfAnother = () =>
  new Rejection(
    'external_member_ref_mismatch',
    'This is our id of another membership, which it goes on naming. Send your own reference for the member.',
    { external_member_ref: 'is the id of another membership' },
  )

/** The memberships of all organisations, by our id or by the partner's reference. */
export const makeMemberships = ({ writer, digest, programmes, snapshots }: MembershipDeps) => {
  const members = commandHandler(writer, membership, snapshots)
  const references = commandHandler(writer, memberReference)

  const referenceIdOf = async (
    organisation_id: OrganisationId,
    programme_id: ProgrammeId,
    reference: string,
  ): Promise<string> =>
    (await digest(organisation_id, 'member_reference', JSON.stringify([programme_id, reference]))).toString('hex')

  const byId = async (organisation_id: OrganisationId, id: string): Promise<Membership | undefined> => {
    const parsed = MembershipId.safeParse(id)
    if (!parsed.success) return undefined
    const { membership: found } = await members.load(parsed.data)
    return found?.organisation_id === organisation_id ? found : undefined
  }

  /** A reference is unique in its programme; one that two programmes know names nobody. */
  const byReference = async (organisation_id: OrganisationId, reference: string): Promise<Membership | undefined> => {
    const holders = await Promise.all(
      programmesOf(programmes, organisation_id).map(async ({ id }) =>
        references.load(await referenceIdOf(organisation_id, id, reference)),
      ),
    )
    const found = await Promise.all(
      holders.flatMap((holder) => (holder ? [byId(organisation_id, holder.membership_id)] : [])),
    )
    const confirmed = found.filter((each) => each?.confirmed_on && each.external_member_ref === reference)
    return confirmed.length === 1 ? confirmed[0] : undefined
  }

  const programmeOf = ({ programme_id }: Membership): Programme => {
    const programme = programmes.get(programme_id)
    // Another process has set the programme up a moment ago.
    if (!programme) throw new Problem('unavailable', 'The programme is not read yet. Send the request again.')
    return programme
  }

  return {
    handle: members.handle,
    load: members.load,

    find: async (organisation_id: OrganisationId, reference: string): Promise<Found> => {
      const membership = (await byId(organisation_id, reference)) ?? (await byReference(organisation_id, reference))
      if (!membership) throw new Problem('not_found', 'There is no membership with this reference. Check the address.')
      return { membership, programme: programmeOf(membership) }
    },

    preview: members.preview,

    /** The recorded entries of a long membership are looked up; as far as it is cached, they are at hand. */
    record: async (id: MembershipId, command: Omit<RecordEntries, 'known'>, context: Context) => {
      const entry_ids = command.entries.map(({ entry_id }) => entry_id)
      for (let known = noneKnown, attempt = 1; ; attempt++)
        try {
          return { known, ...(await members.handle(id, { ...command, known }, context)) }
        } catch (error) {
          // Another process may save a later snapshot at any time.
          if (!(error instanceof EntriesUnknown) || attempt === attempts) throw error
          // The snapshot up to which this process remembers the membership is gone: it is made again from the events.
          if (attempt > 1) writer.forget()
          known = await snapshots.known(id, entry_ids)
        }
    },

    /** Makes a reference a member's own within the programme; with `isFinal` false only if that is possible. */
    claimReference: async (
      { id: membership_id, organisation_id, programme_id }: Membership,
      reference: string,
      context: Context,
      isFinal: boolean,
    ): Promise<void> => {
      const namesake = await byId(organisation_id, reference)
      if (namesake && namesake.id !== membership_id) throw idOfAnother()
      const id = await referenceIdOf(organisation_id, programme_id, reference)
      const holder = (await references.load(id))?.membership_id
      const held = holder && (await members.load(holder)).membership
      const isGivenUp = held?.confirmed_on && held.external_member_ref !== reference
      const instead_of = isGivenUp ? holder : undefined
      const claim = { type: 'ClaimReference', organisation_id, programme_id, membership_id, instead_of } as const
      await (isFinal ? references.handle(id, claim, context) : references.preview(id, claim))
    },
  }
}
export type Memberships = ReturnType<typeof makeMemberships>
