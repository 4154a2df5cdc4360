import { proposal } from '#domain/approvals/proposal.ts'
import { idOf } from '#domain/event.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import type { Timer } from '../reactions/timers.ts'

/** A proposal that nobody has decided expires. */
export const expireProposals = (writer: Writer): Timer => {
  const { handle } = commandHandler(writer, proposal)

  return {
    kind: 'proposal_expiry',
    fire: async ({ stream, due_at }, context) => handle(idOf(stream), { type: 'Expire', now: due_at }, context),
  }
}
