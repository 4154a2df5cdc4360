import { z } from 'zod'
import type { Recorded } from '../decider.ts'
import { Actor } from '../event.ts'
import { OrganisationId, type UserRole } from '../values.ts'
import { recordsFold } from '../records-fold.ts'
import { Act, ProposalId, proposalEvents, ProposedChange, type FourEyesRule, type ProposalEvent } from './events.ts'

/** An organisation that has asked for nothing. */
export const noFourEyes: FourEyesRule = {
  release: false,
  rate_table: false,
  payment_account: false,
  sign_in_provider: false,
  refund_above_pence: null,
  erasure: false,
}

/** Whoever may do an act may approve it, when another user has proposed it. */
export const rolesOfAct = {
  release: ['owner'],
  rate_table: ['owner'],
  payment_account: ['owner'],
  sign_in_provider: ['owner'],
  refund: ['finance'],
  erasure: ['owner', 'policies'],
  four_eyes: ['owner'],
} as const satisfies Readonly<Record<Act, readonly UserRole[]>>

export const ProposalStatus = z
  .enum(['waiting', 'approved', 'done', 'rejected', 'withdrawn', 'voided', 'expired'])
  .describe('approved: it is about to be done. voided: what it would change has changed since, or refuses it.')
export type ProposalStatus = z.infer<typeof ProposalStatus>

/** An act that was proposed, without the reason that was given for it. */
export const Proposal = z
  .object({
    id: ProposalId,
    organisation_id: OrganisationId,
    act: Act,
    title: z.string().describe('The act in words.'),
    stream: z.string().describe('The record that it would change: its type and its id.'),
    changes: z
      .array(ProposedChange)
      .describe('The values that it would change, as they were when it was proposed: the first 500 of them.'),
    changes_count: z.int().describe('The number of all such values: …/changes lists them.'),
    proposed_by: Actor,
    proposed_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
    status: ProposalStatus,
    decided_by: Actor.nullable().describe('Who approved, rejected or withdrew it.'),
    decided_at: z.iso.datetime().nullable(),
    because: z.string().nullable().describe('Why it was voided.'),
  })
  .meta({ id: 'Proposal' })
export type Proposal = z.infer<typeof Proposal>

/** The secrets that lie sealed in proposals which may still be done. */
export type ProposalSecrets = Map<string, ProposalSecret>
type ProposalSecret = {
  readonly id: ProposalId
  readonly organisation_id: string
  readonly sealed: readonly string[]
}

const secretsIn = (command: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(command).flatMap(([name, value]) =>
    name.startsWith('sealed_') && typeof value === 'string' ? [value] : [],
  )

/** Applies events to them, in place. */
export const proposalSecretsFold = recordsFold({
  name: 'proposal secrets',
  version: 1,
  categories: ['proposal'],
  events: proposalEvents,
  evolve: (former: ProposalSecret | undefined, event: ProposalEvent) => {
    if (event.type === 'ProposalApproved') return former
    if (event.type !== 'ProposalMade') return undefined
    const { proposal_id: id, organisation_id, command } = event
    const sealed = secretsIn(command)
    return sealed.length > 0 ? { id, organisation_id, sealed } : undefined
  },
})

export const isOpen = ({ status }: Pick<Proposal, 'status'>): boolean => status === 'waiting' || status === 'approved'

const ended = (
  proposal: Proposal,
  status: ProposalStatus,
  { occurred_at }: Recorded,
  decided_by = proposal.decided_by,
): Proposal => ({ ...proposal, status, decided_by, decided_at: proposal.decided_at ?? occurred_at })

/** So many changes are shown with a proposal. */
const changesShown = 500

/** The proposal after an event, for the command side and the read model alike. */
export const evolveProposal = (
  proposal: Proposal | undefined,
  event: ProposalEvent,
  recorded: Recorded,
): Proposal | undefined => {
  if (event.type === 'ProposalMade') {
    const { proposal_id: id, organisation_id, act, title, stream, changes, changes_count, proposed_by } = event
    const { expires_at } = event
    const shown = { changes: changes.slice(0, changesShown), changes_count }
    const made = { id, organisation_id, act, title, stream, ...shown, proposed_by, expires_at }
    const waiting = { status: 'waiting', decided_by: null, decided_at: null, because: null } as const
    return { ...made, proposed_at: recorded.occurred_at, ...waiting }
  }
  if (!proposal) return undefined
  switch (event.type) {
    case 'ProposalApproved':
      return ended(proposal, 'approved', recorded, { type: 'user', id: event.approved_by })
    case 'ProposalRejected':
      return ended(proposal, 'rejected', recorded, event.rejected_by)
    case 'ProposalWithdrawn':
      return ended(proposal, 'withdrawn', recorded, event.withdrawn_by)
    case 'ProposalVoided':
      return { ...ended(proposal, 'voided', recorded), because: event.because }
    case 'ProposalExpired':
      return ended(proposal, 'expired', recorded)
    case 'ProposalDone':
      return ended(proposal, 'done', recorded)
  }
}
