import { z } from 'zod'
import type { Recorded } from '../decider.ts'
import { categoryOf } from '../event.ts'
import { CustomerId, OrganisationId } from '../values.ts'
import type { ErasureEvent } from './events.ts'

/** The erasure of a person, the operator's key, and the progress. */
export const Erasure = z
  .object({
    contact_id: CustomerId,
    organisation_id: OrganisationId,
    requested_at: z.iso.datetime(),
    requested_by: z.string().nullable().describe('The name of the operator’s key, or the id of the user.'),
    erased_at: z.iso.datetime().nullable().describe('When the keys were destroyed; null: that is still to come.'),
    given_up_at: z.iso
      .datetime()
      .nullable()
      .describe('When it was given up before anything was destroyed, which may be where nobody has asked for it.'),
    because: z.string().nullable().describe('Why it was given up.'),
    records: z.int().describe('How many records told of the person: applications, leads, policies and so on.'),
    records_of_type: z
      .record(z.string(), z.int())
      .describe('How many of each type: `application`, `lead`, `policy` and so on.'),
  })
  .meta({ id: 'Erasure' })
export type Erasure = z.infer<typeof Erasure>

/** Counts these records by their type, besides those that were counted before. */
export const countedByType = (
  streams: readonly string[],
  before: Readonly<Record<string, number>> = {},
): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = { ...before }
  for (const stream of streams) counts[categoryOf(stream)] = (counts[categoryOf(stream)] ?? 0) + 1
  return counts
}

/** A part of what an erasure leaves, and the reason. */
export const Remaining = z.object({ what: z.string(), why: z.string() }).meta({ id: 'RemainsAfterErasure' })
export type Remaining = z.infer<typeof Remaining>

/** All of these lead to nobody any more once the person is erased. */
const always: readonly Remaining[] = [
  {
    what: 'That there were these records, when things happened to them, and what came of them, without any value that tells of the person',
    why: 'Events are never changed, so that other records, counts and the audit log stay right.',
  },
  {
    what: 'Digests of their email address and external id, made with a key, from which neither can be found out',
    why: 'Each belongs to one person only. Whoever comes back with it is a new person.',
  },
  {
    what: 'Fingerprints of the encrypted events, in the audit log',
    why: 'They show that nothing was altered.',
  },
  {
    what: 'Who was shown their records, by the ids of these',
    why: 'It must be known who read about somebody, until the time for which that is kept has passed.',
  },
  {
    what: 'The erasure: when, asked for by whom, and how many records of each type',
    why: 'It is the receipt.',
  },
  {
    what: 'What receivers of webhooks, providers and backups were given before',
    why: 'It is out of reach of the service. Each of them erases by its own rules.',
  },
]

const ofMoney: Remaining = {
  what: 'Amounts, dates and the payment provider’s ids of what was paid, refunded, or is still owed',
  why: 'The money ledger must balance, and what is owed is settled afterwards.',
}

const ofJointCover: Remaining = {
  what: 'Of cover for two, what tells of the other person, or was made of what both said',
  why: 'It is the other person’s, too.',
}

/** All that an erasure of records of these types leaves. */
export const whatRemains = (records_of_type: Readonly<Record<string, number>>): readonly Remaining[] => {
  const isSale = ['application', 'policy'].some((type) => Object.hasOwn(records_of_type, type))
  return [...(isSale ? [ofMoney, ofJointCover] : []), ...always]
}

/** True where somebody may ask for it by hand: it was given up, or nobody has, and no key is known to be destroyed. */
export const mayBeAskedByHand = ({ requested_by, erased_at, given_up_at, records }: Erasure): boolean =>
  given_up_at !== null || (requested_by === null && erased_at === null && records === 0)

/** The erasure after an event, for the command side and the read model alike. */
export const evolveErasure = (
  erasure: Erasure | undefined,
  event: ErasureEvent,
  { occurred_at }: Recorded,
): Erasure | undefined => {
  switch (event.type) {
    case 'PersonErasureRequested': {
      const { organisation_id, contact_id, requested_by } = event
      // Many records that only details lead to are named by several events.
      if (erasure && erasure.given_up_at === null)
        return { ...erasure, requested_by: erasure.requested_by ?? requested_by }
      return {
        contact_id,
        organisation_id,
        requested_at: occurred_at,
        requested_by,
        erased_at: null,
        given_up_at: null,
        because: null,
        records: 0,
        records_of_type: {},
      }
    }
    case 'PersonErasureGivenUp':
      return erasure && { ...erasure, given_up_at: occurred_at, because: event.because }
    case 'PersonErased':
      return (
        erasure && {
          ...erasure,
          erased_at: event.more_follow ? erasure.erased_at : occurred_at,
          records: erasure.records + event.streams.length,
          records_of_type: countedByType(event.streams, erasure.records_of_type),
        }
      )
  }
}
