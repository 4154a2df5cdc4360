import type { EventShapes } from '#domain/event.ts'
import type { EventLog } from '../event-log/event-log.ts'
import { personalDataOf } from './personal-data.ts'

/** A log for whoever only reads it, in which nothing is left of anybody: as if all had been erased. No key is needed. */
export const maskedLog = (storedLog: EventLog, shapes: EventShapes): EventLog => {
  const { mask } = personalDataOf(shapes)
  return {
    ...storedLog,
    read: async (stream, page) => (await storedLog.read(stream, page)).map(mask),
    readAll: async (page) => (await storedLog.readAll(page)).map(mask),
    subscribe: async function* (subscription) {
      for await (const batch of storedLog.subscribe(subscription)) yield { ...batch, events: batch.events.map(mask) }
    },
  }
}
