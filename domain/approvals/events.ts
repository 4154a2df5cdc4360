import { z } from 'zod'
import { Actor, event, personal, type EventOf } from '../event.ts'
import { CustomerId, OrganisationId, UserId } from '../values.ts'

export const ProposalId = z.uuid().toLowerCase().brand<'ProposalId'>()
export type ProposalId = z.infer<typeof ProposalId>

/** The acts that an organisation may ask a second user for; `four_eyes` is to ask for less than before. */
export const Act = z.enum([
  'release',
  'rate_table',
  'payment_account',
  'sign_in_provider',
  'refund',
  'erasure',
  'four_eyes',
])
export type Act = z.infer<typeof Act>

/** The acts for which an organisation asks for a second user. */
export const FourEyesRule = z.object({
  release: z.boolean().describe('To publish a release of a product.'),
  rate_table: z.boolean().describe('To publish a version of a rate table.'),
  payment_account: z.boolean().describe('To set or remove an account with the payment provider.'),
  sign_in_provider: z.boolean().describe('To set a provider by which users sign in, and the roles that it gives them.'),
  refund_above_pence: z
    .int()
    .min(0)
    .nullable()
    .describe('To give more than this back of a premium, all refunds of it by the team together; null: never.'),
  erasure: z.boolean().describe('To erase a person.'),
})
export type FourEyesRule = z.infer<typeof FourEyesRule>

/** A value that an act would change, as it was shown when it was proposed. */
export const ProposedChange = z.object({ path: z.string(), before: z.unknown(), after: z.unknown() })
export type ProposedChange = z.infer<typeof ProposedChange>

const about = { customer_id: CustomerId.nullable() }
const ofCustomer = { subject: ({ customer_id }: { readonly customer_id: string | null }) => customer_id }
const note = personal(z.string()).nullable()

/** Stream `proposal-<proposal id>`: an act that waits until another user approves it. */
export const proposalEvents = {
  ProposalMade: event(
    {
      proposal_id: ProposalId,
      organisation_id: OrganisationId,
      act: Act,
      title: z.string(),
      /** The stream that it would change, and the last event of it then; null: it had none. */
      stream: z.string(),
      revision: z.int().min(0).nullable(),
      /** The command of that stream, without its note. */
      command: z.record(z.string(), z.unknown()),
      changes: z.array(ProposedChange),
      /** Of all changes: a version before kept the first 500 alone. */
      changes_count: z.int().min(0),
      /** The reason that was given, in words. */
      note,
      ...about,
      proposed_by: Actor,
      /**
       * Who made the key, or the link, with which it was proposed: they may have acted in the name of who proposed it. Null: nobody
       * knows, as it was proposed to a version before.
       */
      key_made_by: z.array(Actor).nullable(),
      expires_at: z.iso.datetime(),
    },
    { ...ofCustomer, upcasts: [(v1) => ({ ...v1, key_made_by: null })] },
  ),
  ProposalApproved: event({ stream: z.string(), approved_by: UserId }),
  ProposalRejected: event({ rejected_by: Actor, note, ...about }, ofCustomer),
  ProposalWithdrawn: event({ withdrawn_by: Actor }),
  /** It can be done no more: what it would change has changed, or refuses it. */
  ProposalVoided: event({ because: z.string() }),
  ProposalExpired: event({ proposal_id: ProposalId }),
  /** It was approved, and done. */
  ProposalDone: event({ proposal_id: ProposalId }),
}
export type ProposalEvent = EventOf<typeof proposalEvents>

/** Stream `four_eyes-<organisation id>`: for what it asks for a second user. */
export const fourEyesEvents = {
  /** All of it as it is from now on. */
  FourEyesSet: event(
    { organisation_id: OrganisationId, rule: FourEyesRule },
    { upcasts: [({ rule, ...v1 }) => ({ ...v1, rule: { ...(rule as object), sign_in_provider: false } })] },
  ),
}
