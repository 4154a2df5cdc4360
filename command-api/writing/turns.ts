import { Problem } from '#infra/http/problem.ts'

/** Each keeps a connection of the process while it has its turn, and needs another. */
const mostAtOnce = 4
const mostOfKey = 2
const mostWaitingOfKey = 50

type Waiting = { readonly key: string; readonly begin: () => void }

const tooBusy = () =>
  new Problem('unavailable', 'Others are at work on the same for too long. Send the request again.', {
    headers: { 'Retry-After': '5' },
  })

/**
 * Lets work begin in its order, a few at once in this process and fewer of the same key, so that no organisation holds up another.
 * What has waited for longer than it may is refused with 503.
 */
export const makeTurns = () => {
  const underWay = new Map<string, number>()
  const waiting: Waiting[] = []
  let total = 0

  const beginNext = () => {
    while (total < mostAtOnce) {
      const index = waiting.findIndex(({ key }) => (underWay.get(key) ?? 0) < mostOfKey)
      const [next] = index === -1 ? [] : waiting.splice(index, 1)
      if (!next) return
      total++
      underWay.set(next.key, (underWay.get(next.key) ?? 0) + 1)
      next.begin()
    }
  }

  const end = (key: string) => {
    total--
    const left = (underWay.get(key) ?? 1) - 1
    if (left === 0) underWay.delete(key)
    else underWay.set(key, left)
    beginNext()
  }

  const begun = async (key: string, withinMs: number): Promise<void> => {
    if (waiting.filter((each) => each.key === key).length >= mostWaitingOfKey) throw tooBusy()
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(entry), 1)
        reject(tooBusy())
      }, withinMs)
      const entry = {
        key,
        begin: () => {
          clearTimeout(timer)
          resolve()
        },
      }
      waiting.push(entry)
      beginNext()
    })
  }

  /** The work is told for how long it may go on waiting. */
  return async <Result>(key: string, withinMs: number, work: (leftMs: number) => Promise<Result>): Promise<Result> => {
    const asked = performance.now()
    await begun(key, withinMs)
    try {
      return await work(Math.max(1, Math.ceil(withinMs - (performance.now() - asked))))
    } finally {
      end(key)
    }
  }
}

export type Turns = ReturnType<typeof makeTurns>
