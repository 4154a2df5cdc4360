import { ingest } from '#domain/ingests/ingest.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import type { Timer } from '../reactions/timers.ts'

/** A deferred ingest carries on by itself. */
export const retryIngests = ({ writer }: { readonly writer: Writer }): Timer => {
  const { handle } = commandHandler(writer, ingest)
  return {
    kind: 'ingest_retry',
    fire: async ({ id, due_at }, context) => handle(id, { type: 'RetryIngest', now: due_at }, context),
  }
}
