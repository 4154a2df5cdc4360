import { performance } from 'node:perf_hooks'

/** The load of requests on a process at the moment. Work that nobody waits for gives way to it. */
export type Traffic = {
  /** A request has come in. */
  readonly count: () => void
  readonly isHeavy: () => boolean
}

const windowMs = 1_000
// Below that, a core serves them and what follows from them at once.
const heavy = 200
// A process with more time to spare serves requests as fast as it can, whatever it does besides.
const busy = 0.7

/** Says each time it is asked for what share of the time since then the event loop was busy. */
const loopShare = () => {
  let before = performance.eventLoopUtilization()
  return (): number => {
    const current = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(current, before)
    before = current
    return utilization
  }
}

type Clock = {
  readonly now?: () => number
  /** The share of the time since it was asked last that the process was busy. */
  readonly busyShare?: () => number
}

export const makeTraffic = ({ now = () => performance.now(), busyShare = loopShare() }: Clock = {}): Traffic => {
  let begunAt = -Infinity
  let count = 0
  /** The counts of the second before; after a quiet while it is not known how busy the process will be. */
  let former = { count: 0, share: 1 }

  const move = () => {
    const windows = Math.floor((now() - begunAt) / windowMs)
    if (windows < 1) return
    const share = busyShare()
    former = windows === 1 ? { count, share } : { count: 0, share: 1 }
    count = 0
    begunAt = windows === 1 ? begunAt + windowMs : now()
  }

  return {
    count: () => {
      move()
      count++
    },
    isHeavy: () => {
      move()
      return Math.max(count, former.count) >= heavy && former.share >= busy
    },
  }
}
