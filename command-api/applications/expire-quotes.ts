import { application } from '#domain/applications/application.ts'
import { idOf } from '#domain/event.ts'
import { QuoteId } from '#domain/values.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import type { Timer } from '../reactions/timers.ts'

/** A quote that was not accepted expires at its expiry time. */
export const expireQuotes = (writer: Writer): Timer => {
  const { handle } = commandHandler(writer, application)

  return {
    kind: 'quote_expiry',
    fire: async ({ id, stream, due_at }, context) =>
      handle(idOf(stream), { type: 'ExpireQuote', quote_id: QuoteId.parse(id), now: due_at }, context),
  }
}
