import { complaint } from '#domain/complaints/complaint.ts'
import { idOf } from '#domain/event.ts'
import type { Timer } from '../reactions/timers.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'

/** A complaint that is not decided within eight weeks is overdue, and that is recorded once. */
export const complaintOverdueTimer = (writer: Writer): Timer => {
  const { handle } = commandHandler(writer, complaint)
  return {
    kind: 'complaint_overdue',
    fire: async ({ stream, due_at }, context) =>
      handle(idOf(stream), { type: 'CallOverdueComplaint', now: due_at }, context),
  }
}
