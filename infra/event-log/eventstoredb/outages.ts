import { outageWatch, type Outage, type OutageWatch } from '../outage.ts'

/** One user of the log, which says after each attempt how it went. */
type Source = Pick<OutageWatch, 'failed' | 'succeeded'>

/** Keeps the time since when the log could not be read or followed, by any reader or subscription. */
export const makeOutages = () => {
  const failing = new Set<OutageWatch>()
  const since = ({ current }: OutageWatch) => current()?.since.getTime() ?? Infinity
  return {
    /** The longest of those that last. */
    outage: (): Outage | undefined => [...failing].toSorted((one, other) => since(one) - since(other))[0]?.current(),
    source: (): Source => {
      const watch = outageWatch()
      return {
        failed: (error) => {
          watch.failed(error)
          failing.add(watch)
        },
        succeeded: () => {
          watch.succeeded()
          failing.delete(watch)
        },
      }
    },
  }
}
export type Outages = ReturnType<typeof makeOutages>
