import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import { LeaseLost, underLease } from '#infra/consumers/required-lease.ts'
import type { Log } from '#infra/log.ts'
import { notifier } from '#infra/notifier.ts'
import { reasonOf } from '#infra/reason.ts'
import { settlesWithin } from '#infra/timeout.ts'
import { isServerError } from './backoff.ts'
import { readBodies } from './body.ts'
import type { Capabilities } from '../capability.ts'
import { candidateSearch, type Health, type Standing } from '../endpoints/endpoints.ts'
import { believedMs, endedMs, releaseUnsent, renewEveryMs, renewLeases, type LeasedDelivery } from './leases.ts'
import { allotSlots, type Allotted, type Candidate } from '../endpoints/slots.ts'
import { claim, type Claimed, type Completed } from './queue.ts'
import { recently } from './recently.ts'
import { makeRecorder } from './recorder.ts'
import type { Body } from './send.ts'

export type SenderParts = {
  readonly pool: Pool
  readonly log: Log
  readonly now: () => Date
  readonly capabilities: Capabilities
  readonly send: (claimed: Claimed, body: Body) => Promise<Completed>
  /** Deliveries that are sent at the same time. */
  readonly concurrency: number
  /** A clock that never goes back: `performance.now()` by default. */
  readonly monotonicMs?: () => number
  /** From when on a send counts as slow; 2 seconds by default. */
  readonly slowMs?: number
  /** How often what is still being sent is renewed; every 2 seconds by default. */
  readonly renewMs?: number
}

type Send = Candidate &
  LeasedDelivery & {
    readonly begunAt: number
    /** What ends it, when another may send it. */
    readonly ends: (() => void)[]
    heldAt: number
    isSlow: boolean
  }

const pollMs = 250
/** After news, it takes a moment until the read models have passed them. */
const eagerPollMs = 10
const eagerForMs = 1000
/** What was claimed longer ago is not sent: a send that began later could outlast the lease. */
const mostClaimedMs = 2_500
const finishWithinMs = 8000
const lookAtLeasesMs = 100

/** Sends what is due, in the slots that `allotSlots` gives. */
export const startSender = (parts: SenderParts) => {
  const { pool, log, now, capabilities, send, concurrency } = parts
  const { monotonicMs = () => performance.now(), slowMs = 2_000, renewMs = renewEveryMs } = parts
  const changes = notifier()
  const search = candidateSearch(pool, monotonicMs)
  const sends = new Set<Send>()
  const endedLately = recently(monotonicMs)
  const recorder = makeRecorder(pool, log, () => sends.size)
  const ends = new Set<Promise<void>>()
  let freed = 0
  let lastBegun = 1
  let eagerUntil = 0
  let isStopping = false
  let isAbandoned = false
  let problem: string | undefined

  const isHeld = ({ heldAt }: Pick<Send, 'heldAt'>) => monotonicMs() - heldAt < believedMs

  const sendOne = async (claimed: Claimed, body: Body, slot: Candidate, heldAt: number): Promise<void> => {
    const { id, number } = claimed
    const own: Send = { ...slot, id, number, begunAt: performance.now(), ends: [], heldAt, isSlow: false }
    sends.add(own)
    const becomesSlow = setTimeout(() => {
      own.isSlow = true
      // One that is known to be slow or failing stays so until the send ends.
      const isTrusted = slot.standing === 'new' || slot.standing === 'closed'
      if (isTrusted) recorder.stands(slot.connection_id, 'open')
      search.forget()
      changes.notify()
    }, slowMs)
    // Undefined when this process was stopped so long that another one has taken it over.
    const right = { isHeld: () => isHeld(own), whenLost: (end: () => void) => own.ends.push(end) }
    const completed = await underLease(right, () => send(claimed, body)).catch((error: unknown) => {
      if (error instanceof LeaseLost) return undefined
      throw error
    })
    clearTimeout(becomesSlow)
    sends.delete(own)
    endedLately.add(slot.connection_id)

    // Interrupted because this worker stops: it may have arrived, and is sent again when its lease ends.
    if (isAbandoned || !completed) return
    const standing = standingAfter(completed, own.isSlow)
    if (standing !== 'closed' || slot.standing !== 'closed') {
      recorder.stands(slot.connection_id, standing)
      search.forget()
    }
    recorder.ended(completed)
    const health = slot.watched ? healthAfter(completed) : undefined
    if (health) recorder.ends(slot.connection_id, health)
  }

  /** What was claimed and is not sent comes again; if that cannot be written, when its lease ends. */
  const abandon = async (claimed: readonly Claimed[]): Promise<void> => {
    for (const { connection_id } of claimed) recorder.stands(connection_id, 'unknown')
    search.forget()
    await releaseUnsent(pool, claimed).catch((error: unknown) => {
      log.warn({ error }, 'what is not sent could not be given back: it comes again when its lease ends')
    })
  }

  /** Claims what there is room for and begins to send it. Returns how many deliveries that were. */
  const begin = async (): Promise<number> => {
    const hasRoom = (unproven: Candidate) => allotSlots([unproven], [...sends], concurrency).length > 0
    const troubled = new Set([...sends].flatMap((each) => (each.standing === 'closed' ? [] : [each.organisation_id])))
    const full = [...troubled].filter((organisation_id) => !hasRoom({ ...anyUnproven, organisation_id }))
    const candidates = await search.find(hasRoom(anyUnproven), full)
    const allotted = allotSlots(candidates, [...sends], concurrency, endedLately.of)
    const last = allotted.at(-1)
    if (!last) {
      // There is no room for what was found, and what comes next is not to wait until that is forgotten.
      search.forget()
      return 0
    }
    search.moveTo(last)
    const claimedAt = monotonicMs()
    const claimed = await claim(pool, allotted)
    if (claimed.length < allotted.reduce((sum, { room }) => sum + room, 0)) search.forget()
    if (claimed.length === 0) return 0

    const slots = new Map<string, Allotted>(allotted.map((each) => [each.connection_id, each]))
    const late: Claimed[] = []
    const bodyOf = await readBodies(pool, capabilities, claimed, now()).catch(async (error: unknown) => {
      await abandon(claimed)
      throw error
    })
    for (const each of claimed) {
      const slot = slots.get(each.connection_id) ?? { ...each, standing: 'new' }
      // This process was paused, or PostgreSQL was slow.
      if (monotonicMs() - claimedAt > mostClaimedMs) {
        late.push(each)
        continue
      }
      const end = sendOne(each, bodyOf(each), slot, claimedAt).then(() => {
        ends.delete(end)
        if (++freed >= Math.min(concurrency / 2, lastBegun)) changes.notify()
      })
      ends.add(end)
    }
    if (late.length > 0) await abandon(late)
    return claimed.length - late.length
  }

  const run = async () => {
    while (!isStopping) {
      let begun = 0
      try {
        freed = 0
        begun = await begin()
        lastBegun = Math.max(1, begun)
        problem = undefined
      } catch (error) {
        problem = reasonOf(error)
        log.error({ error }, 'deliveries could not be claimed, trying again')
        await pause(1000)
      }
      // Of what was allotted, some may not have been used: there may be more to send.
      if (begun > 0 && sends.size < concurrency) continue
      const isEager = begun === 0 && performance.now() < eagerUntil
      await changes.wait(isEager ? eagerPollMs : pollMs)
    }
  }
  const running = run()

  /** What ends at once costs nothing here. */
  const renew = async () => {
    const begunBefore = performance.now() - renewMs
    const lasting = [...sends].filter(({ begunAt }) => begunAt <= begunBefore)
    if (lasting.length === 0) return
    const renewedAt = monotonicMs()
    const own = lasting.filter(isHeld)
    await renewLeases(pool, own)
    for (const each of own) each.heldAt = renewedAt
  }
  let renewing: Promise<void> | undefined
  const renewals = setInterval(() => {
    renewing ??= renew()
      .catch((error: unknown) => {
        log.warn({ error }, 'what is being sent could not be renewed, trying again')
      })
      .finally(() => {
        renewing = undefined
      })
  }, renewMs)

  // PostgreSQL was away for so long that another may claim it: that one is not to send it beside us.
  const endings = setInterval(() => {
    for (const { heldAt, ends: underWay } of sends)
      if (monotonicMs() - heldAt >= endedMs) for (const end of underWay.splice(0)) end()
  }, lookAtLeasesMs)

  return {
    /** There is something to send, at the latest when the read models have passed it. */
    notify: (): void => {
      eagerUntil = performance.now() + eagerForMs
      search.forget()
      changes.notify()
    },
    /** What keeps it from working; undefined when nothing does. */
    problem: (): string | undefined => problem,
    /** Claims nothing more and lets what is being sent finish, as far as there is time. */
    stop: async (): Promise<void> => {
      isStopping = true
      changes.notify()
      await running
      await settlesWithin(Promise.all(ends), finishWithinMs)
      isAbandoned = true
      clearInterval(renewals)
      clearInterval(endings)
      await renewing
      await recorder.stop()
    },
  }
}

const anyUnproven: Candidate = { organisation_id: 'any other', connection_id: 'any other', standing: 'new' }

/** An answer that is final, or a refusal of ours, says nothing of the receiver's health. */
const healthAfter = ({ outcome, status, state }: Completed): Health | undefined => {
  if (state === 'delivered') return 'well'
  return outcome === 'unanswered' || (status !== null && isServerError(status)) ? 'failing' : undefined
}

const standingAfter = ({ outcome, state }: Completed, isSlow: boolean): Standing => {
  if (outcome === 'not_sent' || outcome === 'refused') return 'unknown'
  if (outcome === 'unanswered') return 'open'
  if (!isSlow) return 'closed'
  return state === 'delivered' ? 'slow' : 'open'
}
