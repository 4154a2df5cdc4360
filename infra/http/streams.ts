import type { Request, Response } from 'express'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { Problem } from './problem.ts'
import type { Admitted, OpenStream } from './route.ts'
import type { TeamAccess } from './team.ts'

/** Those of the requests to routes of the team whose senders would be admitted still, and as whom. */
export type StillAdmitted = (
  asked: readonly { readonly request: Request; readonly access: TeamAccess }[],
) => Promise<ReadonlyMap<Request, Admitted>>

export type Streams = {
  /** Sends events until one of both ends it. Throws a Problem where there is no room for one more. */
  readonly serve: (asked: Asked, open: OpenStream) => void
  /** Ends all streams, and takes no more: their clients go on elsewhere. */
  readonly end: () => void
}

type Asked = {
  readonly request: Request
  readonly response: Response
  readonly access: TeamAccess
  readonly admitted: Admitted
}

type Options = {
  readonly stillAdmitted: StillAdmitted
  readonly log: Log
  readonly metrics: Pick<Metrics, 'openStreams'>
  /** Of one user, or of one key of a program. */
  readonly mostOfOne?: number
  readonly most?: number
  readonly checkMs?: number
  readonly beatMs?: number
}

type Open = Asked & {
  readonly sender: string
  readonly endsAt: number
  readonly write: (text: string) => void
}

const usualMostOfOne = 8
const usualMost = 1_000
/** A sender who is no longer admitted is told nothing after that time. */
const usualCheckMs = 1_000
/** Proxies take a connection on which nothing comes for a minute to be lost. */
const usualBeatMs = 15_000
/** A client that is gone without a word would keep its place for ever. */
const longestMs = 15 * 60_000
/** Clients connect again after that time. */
const againMs = 3_000

const senderOf = ({ user, operator }: Admitted): string => user?.id ?? `program ${operator ?? ''}`

/** Answers that go on as server-sent events, bounded in number, time and memory, for as long as their senders are admitted. */
export const makeStreams = ({
  stillAdmitted,
  log,
  metrics,
  mostOfOne = usualMostOfOne,
  most = usualMost,
  checkMs = usualCheckMs,
  beatMs = usualBeatMs,
}: Options): Streams => {
  const opened = new Set<Open>()
  let timers: readonly NodeJS.Timeout[] = []
  let hasEnded = false
  let isChecking = false

  const requireRoom = (sender: string): void => {
    if (hasEnded || opened.size >= most)
      throw new Problem('unavailable', 'No more streams can be opened here. Open it again, or ask for JSON.', {
        headers: { 'Retry-After': hasEnded ? '1' : '15' },
      })
    if ([...opened].filter((each) => each.sender === sender).length < mostOfOne) return
    throw new Problem('rate_limited', `You have ${mostOfOne} streams open. Close one first, or ask for JSON.`, {
      headers: { 'Retry-After': '15' },
    })
  }

  /** Asked a second time, it does not wait for a client that does not read. */
  const endOf = ({ response }: Open): void => {
    if (response.writableNeedDrain || response.writableEnded) response.destroy()
    else response.end()
  }

  /** In one statement for all, however many there are. */
  const check = async (): Promise<void> => {
    if (isChecking) return
    isChecking = true
    const asked = [...opened]
    try {
      const admitted = await stillAdmitted(asked)
      for (const each of asked) {
        const roles = admitted.get(each.request)?.user?.roles.join()
        // What is told follows from the roles.
        if (!admitted.has(each.request) || roles !== each.admitted.user?.roles.join()) endOf(each)
      }
    } catch (error) {
      // Nobody knows who has been signed out meanwhile.
      log.warn({ error, streams: asked.length }, 'streams ended: who may have them cannot be read')
      asked.forEach(endOf)
    } finally {
      isChecking = false
    }
  }

  const beat = () => {
    for (const each of opened)
      if (performance.now() > each.endsAt) endOf(each)
      else each.write(':\n\n')
  }

  const watch = () => {
    metrics.openStreams.set(opened.size)
    if (opened.size === 0) {
      timers.forEach(clearInterval)
      timers = []
    } else if (timers.length === 0) timers = [setInterval(() => void check(), checkMs), setInterval(beat, beatMs)]
  }

  const begin = (asked: Asked, sender: string): Open => {
    const { response } = asked
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' })
    const write = (text: string) => {
      if (response.writableEnded || response.destroyed) return
      // Whoever does not read is not remembered for: what came before is still on its way.
      if (response.writableNeedDrain) response.destroy()
      else response.write(text)
    }
    write(`retry: ${againMs}\n\n`)
    // Not all at the same moment.
    const endsAt = performance.now() + longestMs * (0.75 + Math.random() / 4)
    return { ...asked, sender, endsAt, write }
  }

  return {
    serve: (asked, open) => {
      // Whoever has left while it was found out who they are: no close follows that would end their stream.
      if (asked.response.destroyed) return
      const sender = senderOf(asked.admitted)
      requireRoom(sender)
      const stream = begin(asked, sender)
      const close = open(({ id, data }) => stream.write(`id: ${id}\ndata: ${JSON.stringify(data)}\n\n`))
      opened.add(stream)
      watch()
      asked.response.once('close', () => {
        close()
        opened.delete(stream)
        watch()
      })
    },
    end: () => {
      hasEnded = true
      opened.forEach(endOf)
    },
  }
}
