import { z } from 'zod'
import { CustomerId } from '../values.ts'
import { countedByType, Remaining, whatRemains } from './record.ts'

/** Why a person must not be erased now. */
const sentences = {
  policy_in_force: 'The policy is in force or is yet to be. Cancel it first, or wait until it has ended.',
  policy_being_made: 'The policy was sold just now and is being made. Ask again in a minute.',
  claim_not_settled: 'A claim on the policy is not settled. Settle or close it first.',
  refund_owed:
    'Money that was paid is owed back. It is paid with what is known of the person: make, retry or close it first.',
  legal_hold: 'A legal hold keeps all that is known of the person. End it first.',
  complaint_not_closed: 'The complaint is not closed. Decide and close it first.',
} as const

const why = Object.keys(sentences) as (keyof typeof sentences)[]

/** A record for which a person’s details are needed, so that they must not be erased. */
export const Hindrance = z
  .object({
    why: z.enum(why),
    record: z.object({ type: z.string(), id: z.string() }),
  })
  .meta({ id: 'ErasureHindrance' })
export type Hindrance = z.infer<typeof Hindrance>

/** The way out of a hindrance. */
export const adviceOf = (hindrance: Hindrance): string => sentences[hindrance.why]

/** True where nothing is in the way of an erasure. */
export const mayBeErased = (hindrances: readonly Hindrance[]): boolean => hindrances.length === 0

export const ErasurePreview = z
  .object({
    contact_id: CustomerId,
    may_be_erased: z.boolean(),
    hindrances: z
      .array(Hindrance.extend({ advice: z.string() }))
      .describe(
        'For these records the details of the person are needed: they would be refused to be erased. Up to 100.',
      ),
    goes: z
      .record(z.string(), z.int())
      .describe('How many records of each type nobody could read any more, as far as they tell of the person.'),
    remains: z.array(Remaining).describe('All that stays, and the reason.'),
  })
  .meta({ id: 'ErasurePreview' })
export type ErasurePreview = z.infer<typeof ErasurePreview>

type Held = {
  readonly contact_id: CustomerId
  readonly hindrances: readonly Hindrance[]
  /** All that tell of the person. */
  readonly streams: readonly string[]
}

/** Decides if a person may be erased, and tells what would go and what would stay. */
export const previewErasure = ({ contact_id, hindrances, streams }: Held): ErasurePreview => {
  const goes = countedByType(streams)
  return {
    contact_id,
    may_be_erased: mayBeErased(hindrances),
    hindrances: hindrances.map((each) => ({ ...each, advice: adviceOf(each) })),
    goes,
    remains: [...whatRemains(goes)],
  }
}
