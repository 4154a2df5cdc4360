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
  /** The time from which a send counts as slow; 2 seconds by default. */
  readonly slowMs?: number
  /** The interval at which running sends are renewed; every 2 seconds by default. */
  readonly renewMs?: number
}

type Send = Candidate &
  LeasedDelivery & {
    readonly begunAt: number
    /** Ends it, when another may send it. */
    readonly ends: (() => void)[]
    heldAt: number
    isSlow: boolean
  }

const pollMs = 250
/** After news, it takes a moment until the read models have passed them. */
const eagerPollMs = 10
const eagerForMs = 1000
/** A delivery claimed longer ago is not sent: a send that began later could outlast the lease. */
const mostClaimedMs = 2_500
const finishWithinMs = 8000
const checkLeasesMs = 100

/** A sender at work. */
type Sender = Required<Pick<SenderParts, 'monotonicMs' | 'slowMs' | 'renewMs'>> &
  SenderParts & {
    readonly changes: ReturnType<typeof notifier>
    readonly search: ReturnType<typeof candidateSearch>
    readonly endedLately: ReturnType<typeof recently>
    readonly recorder: ReturnType<typeof makeRecorder>
    /** The sends under way. */
    readonly sends: Set<Send>
    readonly ends: Set<Promise<void>>
    /** Sends that have ended since it was last claimed, and those that were begun then. */
    freed: number
    lastBegun: number
    eagerUntil: number
    isStopping: boolean
    isAbandoned: boolean
    problem: string | undefined
  }

const makeSender = (parts: SenderParts): Sender => {
  const { pool, log, monotonicMs = () => performance.now(), slowMs = 2_000, renewMs = renewEveryMs } = parts
  const sends = new Set<Send>()
  return {
    ...parts,
    monotonicMs,
    slowMs,
    renewMs,
    changes: notifier(),
    search: candidateSearch(pool, monotonicMs),
    endedLately: recently(monotonicMs),
    recorder: makeRecorder(pool, log, () => sends.size),
    sends,
    ends: new Set(),
    freed: 0,
    lastBegun: 1,
    eagerUntil: 0,
    isStopping: false,
    isAbandoned: false,
    problem: undefined,
  }
}

/** Sends what is due, in the slots that `allotSlots` gives. */
export const startSender = (parts: SenderParts) => {
  const sender = makeSender(parts)
  const { changes, search, recorder, ends } = sender
  const running = run(sender)
  const renewals = startRenewals(sender)
  const endings = setInterval(() => endLost(sender), checkLeasesMs)
  return {
    /** There is something to send, at the latest when the read models have passed it. */
    notify: (): void => {
      sender.eagerUntil = performance.now() + eagerForMs
      search.forget()
      changes.notify()
    },
    /** The reason that keeps it from working; undefined when nothing does. */
    problem: (): string | undefined => sender.problem,
    /** Claims nothing more and lets what is being sent finish, as far as there is time. */
    stop: async (): Promise<void> => {
      sender.isStopping = true
      changes.notify()
      await running
      await settlesWithin(Promise.all(ends), finishWithinMs)
      sender.isAbandoned = true
      clearInterval(endings)
      await renewals.stop()
      await recorder.stop()
    },
  }
}

const run = async (sender: Sender): Promise<void> => {
  while (!sender.isStopping) {
    let begun = 0
    try {
      sender.freed = 0
      begun = await begin(sender)
      sender.lastBegun = Math.max(1, begun)
      sender.problem = undefined
    } catch (error) {
      sender.problem = reasonOf(error)
      sender.log.error({ error }, 'deliveries could not be claimed, trying again')
      await pause(1000)
    }
    // Of what was allotted, some may not have been used: there may be more to send.
    if (begun > 0 && sender.sends.size < sender.concurrency) continue
    const isEager = begun === 0 && performance.now() < sender.eagerUntil
    await sender.changes.wait(isEager ? eagerPollMs : pollMs)
  }
}

/** Claims what there is room for and begins to send it. Returns how many deliveries that were. */
const begin = async (sender: Sender): Promise<number> => {
  const { pool, search, monotonicMs } = sender
  const allotted = await allot(sender)
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
  return claimed.length === 0 ? 0 : beginAll(sender, claimed, allotted, claimedAt)
}

const allot = async ({ search, sends, concurrency, endedLately }: Sender): Promise<readonly Allotted[]> => {
  const hasRoom = (unproven: Candidate) => allotSlots([unproven], [...sends], concurrency).length > 0
  const troubled = new Set([...sends].flatMap((each) => (each.standing === 'closed' ? [] : [each.organisation_id])))
  const full = [...troubled].filter((organisation_id) => !hasRoom({ ...anyUnproven, organisation_id }))
  const candidates = await search.find(hasRoom(anyUnproven), full)
  return allotSlots(candidates, [...sends], concurrency, endedLately.of)
}

const beginAll = async (
  sender: Sender,
  claimed: readonly Claimed[],
  allotted: readonly Allotted[],
  claimedAt: number,
): Promise<number> => {
  const { pool, capabilities, now, ends, changes, concurrency } = sender
  const slots = new Map<string, Allotted>(allotted.map((each) => [each.connection_id, each]))
  const late: Claimed[] = []
  const bodyOf = await readBodies(pool, capabilities, claimed, now()).catch(async (error: unknown) => {
    await abandon(sender, claimed)
    throw error
  })
  for (const each of claimed) {
    const slot = slots.get(each.connection_id) ?? { ...each, standing: 'new' }
    // This process was paused, or PostgreSQL was slow.
    if (sender.monotonicMs() - claimedAt > mostClaimedMs) {
      late.push(each)
      continue
    }
    const end = sendOne(sender, each, bodyOf(each), { slot, heldAt: claimedAt }).then(() => {
      ends.delete(end)
      if (++sender.freed >= Math.min(concurrency / 2, sender.lastBegun)) changes.notify()
    })
    ends.add(end)
  }
  if (late.length > 0) await abandon(sender, late)
  return claimed.length - late.length
}

/** Claimed deliveries that are not sent come again; if that cannot be written, when their lease ends. */
const abandon = async ({ pool, log, recorder, search }: Sender, claimed: readonly Claimed[]): Promise<void> => {
  for (const { connection_id } of claimed) recorder.stands(connection_id, 'unknown')
  search.forget()
  await releaseUnsent(pool, claimed).catch((error: unknown) => {
    log.warn({ error }, 'what is not sent could not be given back: it comes again when its lease ends')
  })
}

const isHeld = ({ monotonicMs }: Sender, { heldAt }: Send): boolean => monotonicMs() - heldAt < believedMs

const sendOne = async (
  sender: Sender,
  claimed: Claimed,
  body: Body,
  { slot, heldAt }: { readonly slot: Candidate; readonly heldAt: number },
): Promise<void> => {
  const { id, number } = claimed
  const own: Send = { ...slot, id, number, begunAt: performance.now(), ends: [], heldAt, isSlow: false }
  sender.sends.add(own)
  const becomesSlow = setTimeout(() => isSlowNow(sender, own), sender.slowMs)
  // Undefined when this process was stopped so long that another one has taken it over.
  const right = { isHeld: () => isHeld(sender, own), whenLost: (end: () => void) => own.ends.push(end) }
  const completed = await underLease(right, () => sender.send(claimed, body)).catch((error: unknown) => {
    if (error instanceof LeaseLost) return undefined
    throw error
  })
  clearTimeout(becomesSlow)
  sender.sends.delete(own)
  sender.endedLately.add(slot.connection_id)
  // Interrupted because this worker stops: it may have arrived, and is sent again when its lease ends.
  if (!sender.isAbandoned && completed) record(sender, own, completed)
}

const isSlowNow = ({ recorder, search, changes }: Sender, own: Send): void => {
  own.isSlow = true
  // One that is known to be slow or failing stays so until the send ends.
  const isTrusted = own.standing === 'new' || own.standing === 'closed'
  if (isTrusted) recorder.stands(own.connection_id, 'open')
  search.forget()
  changes.notify()
}

/** Records the state of the connection that a send has shown. */
const record = ({ recorder, search }: Sender, own: Send, completed: Completed): void => {
  const standing = standingAfter(completed, own.isSlow)
  if (standing !== 'closed' || own.standing !== 'closed') {
    recorder.stands(own.connection_id, standing)
    search.forget()
  }
  recorder.ended(completed)
  const health = own.watched ? healthAfter(completed) : undefined
  if (health) recorder.ends(own.connection_id, health)
}

/** Renews the leases of what is being sent for long: what ends at once costs nothing here. */
const startRenewals = (sender: Sender): { readonly stop: () => Promise<void> } => {
  const { pool, log, sends, renewMs, monotonicMs } = sender
  const renew = async () => {
    const begunBefore = performance.now() - renewMs
    const lasting = [...sends].filter(({ begunAt }) => begunAt <= begunBefore)
    if (lasting.length === 0) return
    const renewedAt = monotonicMs()
    const own = lasting.filter((each) => isHeld(sender, each))
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
  return {
    stop: async () => {
      clearInterval(renewals)
      await renewing
    },
  }
}

/** PostgreSQL was away for so long that another may claim it: that one is not to send it beside us. */
const endLost = ({ sends, monotonicMs }: Sender): void => {
  for (const { heldAt, ends: underWay } of sends)
    if (monotonicMs() - heldAt >= endedMs) for (const end of underWay.splice(0)) end()
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
