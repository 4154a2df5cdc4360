import { LogUnavailable } from './event-log/event-log.ts'

type Waiting<Item, Result> = {
  readonly item: Item
  readonly settle: (result: Result) => void
  readonly fail: (error: unknown) => void
}

type Options = { readonly mostAtOnce: number; readonly mostWaiting: number; readonly mostInFlight: number }

/**
 * Turns a statement for many into a function for one: what is asked for in the same turn of the event loop, or while as
 * many statements as allowed are under way, shares the next statement. Results come in the order of the items.
 */
export const batched = <Item, Result>(
  send: (items: readonly Item[]) => Promise<readonly Result[]>,
  { mostAtOnce, mostWaiting, mostInFlight }: Options,
): ((item: Item) => Promise<Result>) => {
  const waiting: Waiting<Item, Result>[] = []
  let inFlight = 0
  let isScheduled = false

  const schedule = () => {
    if (isScheduled || inFlight === mostInFlight || waiting.length === 0) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      inFlight++
      void flush(waiting.splice(0, mostAtOnce)).finally(() => {
        inFlight--
        schedule()
      })
      schedule()
    })
  }

  const flush = async (batch: readonly Waiting<Item, Result>[]) => {
    try {
      const results = await send(batch.map(({ item }) => item))
      for (const [index, { settle }] of batch.entries()) settle(results[index] as Result) // one for each item
    } catch (error) {
      for (const { fail } of batch) fail(error)
    }
  }

  return (item) =>
    new Promise((settle, fail) => {
      if (waiting.length >= mostWaiting) throw new LogUnavailable('Too many wait for the same statement.')
      waiting.push({ item, settle, fail })
      schedule()
    })
}
