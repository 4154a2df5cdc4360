import type { CustomerId } from '../values.ts'
import type { DraftCost, OutreachEvent } from './events.ts'
import { isSpent, isWorking, type OutreachStream } from './stream-record.ts'

/** A call of the writer for a message of a person. */
type Call = { readonly call_id: string; readonly message_id: string; readonly contact_id: CustomerId }

export type DraftCommand =
  | {
      readonly type: 'ReserveDrafts'
      readonly drafts: readonly Call[]
      /** The maximum for one call. */
      readonly most: DraftCost
      /** In real time. */
      readonly asked_at: string
    }
  | { readonly type: 'ReleaseDraft'; readonly call_id: string }
  | { readonly type: 'ChargeDraft'; readonly call_id: string; readonly cost: DraftCost }
  /** Calls that nobody heard the end of are paid. In real time. */
  | { readonly type: 'SettleDrafts'; readonly real_now: string }

type Reservation = Call & { readonly most: DraftCost; readonly at: string }

/** The calls that are under way, by their ids. */
export type Reserved = Readonly<Record<string, Reservation>>

/** With no cost reported for so long, the caller has died. A call takes seconds. */
export const reservationMs = 10 * 60_000

export const evolveReserved = (reserved: Reserved, event: OutreachEvent, at: string): Reserved => {
  if (event.type === 'OutreachDraftsReserved') {
    const { drafts, most, asked_at } = event
    const since = { most, at: asked_at ?? at }
    return { ...reserved, ...Object.fromEntries(drafts.map((call) => [call.call_id, { ...call, ...since }])) }
  }
  if (event.type !== 'OutreachDraftReleased' && event.type !== 'OutreachDraftCharged') return reserved
  return Object.fromEntries(Object.entries(reserved).filter(([call_id]) => call_id !== event.call_id))
}

/** A call counted as lost stays so, even if it is heard of after all. */
export const decideOnDrafts = (
  command: DraftCommand,
  reserved: Reserved,
  stream: OutreachStream,
): readonly OutreachEvent[] => {
  switch (command.type) {
    case 'ReserveDrafts':
      return reserve(command, reserved, stream)
    case 'ReleaseDraft': {
      const { call_id, message_id } = reserved[command.call_id] ?? {}
      return call_id && message_id ? [{ type: 'OutreachDraftReleased', call_id, message_id }] : []
    }
    case 'ChargeDraft': {
      const call = reserved[command.call_id]
      return call ? charged([{ ...call, most: command.cost }], stream) : []
    }
    case 'SettleDrafts':
      return charged(lost(reserved, command.real_now), stream)
  }
}

const lost = (reserved: Reserved, real_now: string, again: ReadonlySet<string> = new Set()): readonly Reservation[] => {
  const since = new Date(Date.parse(real_now) - reservationMs).toISOString()
  return Object.values(reserved).filter(({ at, message_id }) => at <= since || again.has(message_id))
}

/**
 * A draft may be written while what was spent, and the most that drafts under way can cost, is below the ceiling. So it is
 * passed by the cost of one draft at most. Whoever asks for a message again has not heard the end of the call before.
 */
const reserve = (
  { drafts: asked, most, asked_at }: Extract<DraftCommand, { type: 'ReserveDrafts' }>,
  reserved: Reserved,
  stream: OutreachStream,
): readonly OutreachEvent[] => {
  if (!isWorking(stream)) return []
  const given = lost(reserved, asked_at, new Set(asked.map(({ message_id }) => message_id)))
  const costs = charged(given, stream)
  const others = Object.values(reserved).filter((each) => !given.includes(each))
  let taken = stream.total_micro_pence + sumOf(given) + sumOf(others)
  const drafts = []
  for (const draft of asked) {
    // What costs nothing passes no ceiling.
    if (most.micro_pence > 0 && isSpent(taken, stream)) break
    drafts.push(draft)
    taken += most.micro_pence
  }
  if (drafts.length > 0) return [...costs, { type: 'OutreachDraftsReserved', drafts, most, asked_at }]
  const { total_micro_pence, cost_ceiling_pence } = stream
  // Without a ceiling above zero nothing can be written: it is shown why.
  const isStopped = costs.length === 0 && isSpent(total_micro_pence, stream)
  return isStopped ? [{ type: 'OutreachBudgetExceeded', total_micro_pence, cost_ceiling_pence }] : costs
}

const sumOf = (calls: readonly Pick<Reservation, 'most'>[]): number =>
  calls.reduce((sum, { most }) => sum + most.micro_pence, 0)

const charged = (
  calls: readonly Reservation[],
  { total_micro_pence, budget_exceeded, cost_ceiling_pence }: OutreachStream,
): readonly OutreachEvent[] => {
  const total = total_micro_pence + sumOf(calls)
  const isExceeded = calls.length > 0 && !budget_exceeded && isSpent(total, { cost_ceiling_pence })
  return [
    ...calls.map(({ call_id, message_id, contact_id, most }): OutreachEvent => {
      const isFree = most.usd_micros === 0
      return isFree
        ? { type: 'OutreachDraftReleased', call_id, message_id }
        : { type: 'OutreachDraftCharged', call_id, message_id, contact_id, ...most }
    }),
    ...(isExceeded ? [{ type: 'OutreachBudgetExceeded', total_micro_pence: total, cost_ceiling_pence } as const] : []),
  ]
}
