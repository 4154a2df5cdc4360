import type { Position, RecordedEvent } from '#domain/event.ts'
import { reasonOf } from '../reason.ts'
import { handlerOf, type Consumer, type InTransaction } from './consumer-type.ts'
import { bisect } from './failures.ts'
import { openOf, reportUnhandled, save, saveUnhandled, type Following, type Runner } from './following.ts'
import { setAside, type Unhandled } from './set-aside.ts'

/** Handles the events of a batch in the transaction that moves the checkpoint. */
export const handling = (following: Following, consumer: Consumer & InTransaction): Runner => {
  const handleSome = async (events: readonly RecordedEvent[], to: Position): Promise<void> => {
    let unhandled: Unhandled[] = []
    const open = await openOf(following, events)
    const handle = open.length > 0 ? await handlerOf(consumer, open) : undefined
    const afterwards = await save(following, to, async (db, last) => {
      unhandled = []
      const handled = await handle?.(open, db, last, (event, error) =>
        unhandled.push({ event, record: event.stream, reason: reasonOf(error) }),
      )
      await setAside(db, consumer.name, unhandled)
      return handled
    })
    afterwards?.()
    await reportUnhandled(following, unhandled)
  }

  return {
    handle: (events, to) =>
      bisect(events, to, handleSome, (event, error, reached) =>
        saveUnhandled(following, reached, [{ event, record: event.stream, reason: reasonOf(error) }]),
      ),
  }
}
