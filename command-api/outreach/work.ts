import { isWorking, type OutreachStream } from '#domain/outreach/record.ts'
import { CustomerId } from '#domain/values.ts'
import { newId } from '#infra/ids.ts'
import type { Context } from '../writing/handle.ts'
import { makeDrafts } from './drafts.ts'
import { eachOf, type EachOf } from './each-of.ts'
import type { QueuePosition } from './queue.ts'
import { makeSends } from './sends.ts'
import { makeToEverybody } from './to-everybody.ts'
import type { Turn, Waiting, WorkDeps } from './turn.ts'

const turnMs = 5_000

/** The work of one stream. Two processes may do it at the same time: the events decide who writes and who sends. */
export const makeWork = (deps: WorkDeps) => {
  const { streams, people, live, queue, clock, log } = deps
  const { draft } = makeDrafts(deps)
  const { sendDue } = makeSends(deps)
  const { handOut, moveReminders } = makeToEverybody(deps)

  const now = () => clock.now().toISOString()

  const contextOf = ({ organisation_id }: OutreachStream): Context => ({
    organisation_id,
    actor: { type: 'system', id: 'outreach' },
    correlation_id: newId(),
    now: now(),
    isShownLater: true,
  })

  const pages = (each: EachOf): Turn['page'] => {
    const seen = new Map<string, QueuePosition>()
    return async ({ organisation_id, id }, step, most) => {
      const queued = await queue.next(organisation_id, id, step, now(), seen.get(step), most)
      const last = queued.at(-1)
      if (last) seen.set(step, last)
      const found = new Map<string, Waiting>()
      await each(queued, async ({ id: message_id, contact_id }) => {
        const message = (await people.load(contact_id)).messages[message_id]
        if (message?.waits_for === step) found.set(message_id, { contact_id: CustomerId.parse(contact_id), message })
      })
      return { waiting: queued.flatMap((item) => found.get(item.id) ?? []), isFull: queued.length === most }
    }
  }

  return async (stream_id: string, signal: AbortSignal): Promise<void> => {
    const each = eachOf(log, signal)
    const failures: Error[] = []
    const note: Turn['note'] = (failure) => {
      if (failure) failures.push(failure)
    }
    const turn: Turn = { eachOf: each, note, contextOf, page: pages(each) }
    const until = performance.now() + turnMs
    for (let hasMore = true; hasMore && !signal.aborted && performance.now() < until;) {
      const { stream } = await streams.load(stream_id)
      if (!stream || !live.settings.get(stream.organisation_id)?.is_on) break
      const steps = [moveReminders, ...(isWorking(stream) ? [handOut, draft, sendDue] : [])]
      hasMore = false
      for (const step of steps) hasMore = (await step(stream, turn)) || hasMore
    }
    const [failure] = failures
    if (failure) throw failure
  }
}
