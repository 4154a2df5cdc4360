import { application } from '#domain/applications/application.ts'
import { idOf } from '#domain/event.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import type { Timer } from '../reactions/timers.ts'

/** An application that nobody works on is given up after as long as its release allows. */
export const abandonInactive = (writer: Writer): Timer => {
  const { handle } = commandHandler(writer, application)

  return {
    kind: 'application_inactivity',
    fire: async ({ stream, due_at }, context) =>
      handle(idOf(stream), { type: 'AbandonInactive', now: due_at }, context),
  }
}
