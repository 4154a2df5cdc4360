/** How much a process is asked for at the moment. What nobody waits for gives way to that. */
export type Traffic = {
  /** A request has come in. */
  readonly count: () => void
  readonly isHeavy: () => boolean
}

const windowMs = 1_000
// Below that, a core serves them and what follows from them at once.
const heavy = 200

export const makeTraffic = (now: () => number = () => performance.now()): Traffic => {
  let begunAt = -Infinity
  let count = 0
  let former = 0

  const move = () => {
    const windows = Math.floor((now() - begunAt) / windowMs)
    if (windows < 1) return
    former = windows === 1 ? count : 0
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
      return Math.max(count, former) >= heavy
    },
  }
}
