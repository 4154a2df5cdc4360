import type { ProposalId } from '#domain/approvals/events.ts'
import { OwnError } from '#domain/own-error.ts'
import { EndedOtherwise } from '#infra/http/route.ts'
import type { z } from 'zod'
import type { Waiting } from '../waiting.ts'
import type { Context } from './context.ts'

/** A command that is decided, and whose events are not stored yet. */
export type Decided = {
  readonly organisation_id: string | null
  readonly command: unknown
  /** The state that it was decided on, and what it makes of it. */
  readonly before: unknown
  readonly after: unknown
}

export type Held = Decided & {
  readonly stream: string
  /** The last event that the decision rests on; undefined: there was none. */
  readonly revision: number | undefined
  readonly context: Context
}

/** Holds back the acts for which an organisation asks for a second user. */
export type Approval = {
  /** True where some organisation may ask for it: for all else nothing is read. */
  readonly mayAsk: (command: unknown) => boolean
  readonly isAsked: (decided: Decided) => Promise<boolean>
  /** Keeps the act as a proposal. One that waits already is not proposed again. */
  readonly propose: (held: Held) => Promise<ProposalId>
}

/** Thrown in place of what was asked for: it was proposed, and waits for another user. */
export class Proposed extends EndedOtherwise {
  override readonly name = 'Proposed'
  readonly proposal_id: ProposalId

  constructor(proposal_id: ProposalId, organisation_id: string) {
    const address = `/admin/v1/organisations/${organisation_id}/approvals/${proposal_id}`
    const next = `Another user who may do this approves it: POST ${address}/approve.`
    const data = { status: 'waiting', proposal_id, address, next } as const
    super(`waits until another user approves it, as proposal ${proposal_id}`, {
      status: 202,
      body: { data } satisfies z.input<typeof Waiting>,
    })
    this.proposal_id = proposal_id
  }
}

/** Thrown where an approved act finds something else than what it was approved for. */
export class ChangedSince extends OwnError {
  override readonly name = 'ChangedSince'
}
