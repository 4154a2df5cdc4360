import { Problem } from '../http/problem.ts'
import type { EventLog } from '../event-log/event-log.ts'
import type { Progress } from './progress.ts'

/** The parts that say how far the read models are behind the log. */
export type Shown = {
  readonly eventLog: Pick<EventLog, 'head'>
  readonly progress: Pick<Progress, 'wait'>
  /** The longest wait for them. */
  readonly withinMs: number
}

class ReadModelsBehind extends Problem {
  constructor() {
    super('unavailable', 'What was stored last cannot be read yet. Send the request again.', {
      headers: { 'Retry-After': '1' },
    })
  }
}

/** True where something could not be done because read models are behind. */
export const isBehind = (error: unknown): boolean => error instanceof ReadModelsBehind

/** True where something cannot be done now, for whatever passes by itself: it can be done a little later. */
export const isPutOff = (error: unknown): boolean => error instanceof Problem && error.code === 'unavailable'

/** Waits until the read models show all that was stored so far in streams of these categories; false: they do not yet. */
const isShown = async ({ eventLog, progress, withinMs }: Shown, categories: readonly string[]): Promise<boolean> => {
  const head = await eventLog.head()
  if (head === undefined) return true
  const shown = await Promise.all(categories.map(async (category) => progress.wait(category, head, withinMs)))
  return !shown.includes(false)
}

/** Waits as long, and refuses with 503 when they still do not. */
export const untilShown = async (shown: Shown, categories: readonly string[]): Promise<void> => {
  if (!(await isShown(shown, categories))) throw new ReadModelsBehind()
}

/**
 * The record in a read model. That there is none is said only once the read model shows all that was stored so far: before, it
 * may have been answered with this very id.
 */
export const findShown = async <Found>(
  shown: Shown,
  category: string,
  find: () => Promise<Found | undefined>,
): Promise<Found | undefined> => {
  const found = await find()
  if (found !== undefined) return found
  const showsAll = await isShown(shown, [category])
  const again = await find()
  if (again === undefined && !showsAll) throw new ReadModelsBehind()
  return again
}
