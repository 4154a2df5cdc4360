import { randomUUID } from 'node:crypto'
import type { NewEvent, Position, RecordedEvent } from '#domain/event.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import type { Collection, Outcome, Provider, ProviderPayment, PaymentStatement } from '#infra/stripe/provider.ts'

type Intent = Omit<ProviderPayment, 'status' | 'refunded_pence'> & {
  status: ProviderPayment['status']
  refunded_pence: number
  /** The payer's bank has taken it back. */
  is_disputed: boolean
  /** How much of it: all, where nothing is said. */
  disputed_pence?: number
  /** How often a dispute of it was lost, or won. */
  dispute_changes: number
}

type Refund = {
  readonly refund_id: string
  readonly intent: string
  readonly pence: number
  readonly metadata: Readonly<Record<string, string>>
  has_failed: boolean
}

const untouched = {
  client_secret: null,
  status: 'processing',
  refunded_pence: 0,
  is_disputed: false,
  dispute_changes: 0,
  currency_code: 'GBP',
  card: null,
  paid_at: null,
  failure_code: null,
} as const satisfies Partial<Intent>

/** What the payer's bank has taken back of it. */
const takenBackPence = ({ is_disputed, amount_pence, disputed_pence = amount_pence }: Intent): number =>
  is_disputed ? disputed_pence : 0

/** What a payment provider has kept: what was made under a key is named by its id. */
export type KeptBank = {
  readonly intents: readonly Intent[]
  readonly refunds: readonly Refund[]
  readonly keys: Readonly<Record<string, string | null>>
}

/** What a payment provider remembers, without HTTP: payments, refunds, and what was asked for under which key. */
export const makeBank = (kept: KeptBank = { intents: [], refunds: [], keys: {} }) => {
  const intents: Intent[] = kept.intents.map((each) => ({ ...each }))
  const refunds: Refund[] = kept.refunds.map((each) => ({ ...each }))
  const madeAs = (name: string | null): unknown =>
    intents.find(({ id }) => id === name) ?? refunds.find(({ refund_id }) => refund_id === name) ?? name ?? undefined
  const byKey = new Map(Object.entries(kept.keys).map(([key, name]) => [key, madeAs(name)]))
  /** Customers whom it no longer knows. */
  const forgotten = new Set<string>()
  const silent = { collections: 0, refunds: 0 }
  /** A payment that it does not find at the moment. */
  const missing: { id: string | undefined } = { id: undefined }
  let beforeNextCollection: () => Promise<void> = async () => undefined
  const done = <Value>(value: Value): Outcome<Value> => ({ outcome: 'done', value })
  const lost = { outcome: 'unanswered', reason: 'The answer was lost.' } as const

  const once = <Value>(key: string, work: () => Value): Value => {
    if (!byKey.has(key)) byKey.set(key, work())
    return byKey.get(key) as Value // what was kept under this key
  }

  const provider = {
    collect: async (given: Collection, key: string) => {
      const { amount_pence, metadata, provider_customer_id, provider_payment_method_id } = given
      const sleep = beforeNextCollection
      beforeNextCollection = async () => undefined
      await sleep()
      if (once(`${key} payer`, () => provider_payment_method_id) !== provider_payment_method_id)
        return { outcome: 'refused', code: 'idempotency_error', message: '' } as const
      const intent = once(key, () => {
        const made: Intent = {
          ...untouched,
          id: `pi_${intents.length + 1}`,
          amount_pence,
          metadata,
          provider_customer_id,
        }
        intents.push(made)
        return made
      })
      return silent.collections-- > 0 ? lost : done<ProviderPayment>({ ...intent, status: 'processing' })
    },
    readPayment: async (id: string): Promise<Outcome<ProviderPayment>> => {
      const found = intents.find((each) => each.id === id && id !== missing.id)
      return found ? done({ ...found }) : { outcome: 'refused', code: 'resource_missing', message: '' }
    },
    readMandate: async (id: string) => done({ id, network_status: 'accepted', active: true }),
    findCollection: async (
      customer: string,
      metadata: Readonly<Record<string, string>>,
    ): Promise<Outcome<ProviderPayment | null>> => {
      if (forgotten.has(customer)) return { outcome: 'refused', code: 'resource_missing', message: '' }
      const names = Object.keys(metadata)
      const found = intents
        .filter(({ provider_customer_id }) => provider_customer_id === customer)
        .find((each) => names.every((name) => each.metadata[name] === metadata[name]))
      return done<ProviderPayment | null>(found ? { ...found } : null)
    },
    readStatement: async (id: string): Promise<Outcome<PaymentStatement>> => {
      const index = intents.findIndex((each) => each.id === id && id !== missing.id)
      const found = intents[index]
      if (!found) return { outcome: 'refused', code: 'resource_missing', message: '' }
      const status = found.is_disputed ? ('open' as const) : ('won' as const)
      const { amount_pence, disputed_pence = amount_pence } = found
      const dispute = { provider_dispute_id: `dp_${index}`, disputed_pence, status }
      const made = refunds.filter(({ intent }) => intent === id).toReversed()
      return done({
        ...found,
        paid_at: found.paid_at ?? (found.status === 'succeeded' ? '2026-07-01T09:00:00.000Z' : null),
        failure_code: found.failure_code ?? (found.status === 'open' ? 'insufficient_funds' : null),
        refunds: made.map(({ refund_id, pence, metadata, has_failed }) => ({
          provider_refund_id: refund_id,
          refund_id: metadata['refund_id'] ?? null,
          refund_pence: pence,
          has_failed,
          failure_code: has_failed ? 'refund_failed' : null,
        })),
        disputes: found.dispute_changes === 0 ? [] : [dispute],
      })
    },
    isTakenBack: async (dispute_id: string) =>
      done(intents[Number(dispute_id.slice('dp_'.length))]?.is_disputed ?? false),
    refundedPence: async (id: string) => done(intents.find((each) => each.id === id)?.refunded_pence ?? 0),
    refund: async (id: string, pence: number, key: string, metadata: Readonly<Record<string, string>>) => {
      const refund = once(key, () => {
        const intent = intents.find((each) => each.id === id)
        if (intent?.status !== 'succeeded') return undefined
        if (intent.refunded_pence + pence > intent.amount_pence - takenBackPence(intent)) return undefined
        intent.refunded_pence += pence
        const made = { refund_id: `re_${refunds.length + 1}`, intent: id, pence, metadata, has_failed: false }
        refunds.push(made)
        return made
      })
      if (!refund) return { outcome: 'refused', code: 'charge_already_refunded', message: '' } as const
      return silent.refunds-- > 0 ? lost : done(refund)
    },
  }
  return {
    intents,
    keys: byKey,
    forgotten,
    refunds,
    silent,
    payByCard: (paid: Pick<Intent, 'amount_pence' | 'metadata' | 'paid_at'>) => {
      const made = { ...untouched, ...paid, id: 'pi_1', status: 'succeeded', provider_customer_id: 'cus_1' } as const
      intents.push({ ...made })
    },
    forgetPayment: (id: string | undefined) => {
      missing.id = id
    },
    /** Whoever asks it to collect next sleeps before the request arrives, until woken. */
    sleepBeforeNextCollection: () => {
      const woken = Promise.withResolvers<void>()
      const asleep = Promise.withResolvers<void>()
      beforeNextCollection = async () => {
        asleep.resolve()
        await woken.promise
      }
      return { isAsleep: asleep.promise, now: woken.resolve }
    },
    /** The payer's bank does not take it. */
    failRefund: (refund: Refund) => {
      refund.has_failed = true
      const intent = intents.find(({ id }) => id === refund.intent)
      if (intent) intent.refunded_pence -= refund.pence
    },
    // Nothing else of the provider is called for premiums.
    provider: provider as unknown as Provider,
    holds: (payments: readonly Intent[] = intents) =>
      payments
        .filter(({ status }) => status === 'succeeded')
        .reduce((sum, each) => sum + each.amount_pence - takenBackPence(each) - each.refunded_pence, 0),
  }
}

/** A log in memory for rules that need many streams: `kill` makes one of the next appends fail, before or after it was stored. */
export const memoryLog = () => {
  const streams = new Map<string, RecordedEvent[]>()
  let position = 0
  const kill: { at: 'before' | 'after' | undefined; write: number } = { at: undefined, write: 1 }
  const killed = () => {
    Object.assign(kill, { at: undefined, write: 1 })
    return new Error('This process was killed.')
  }
  /** Called before a stream is read, for acts of somebody else. */
  const meanwhile: { before: ((stream: string) => Promise<void>) | undefined } = { before: undefined }
  const log: Pick<EventLog, 'append' | 'read'> = {
    read: async (stream, { from = 0, limit = 1_000 } = {}) => {
      await meanwhile.before?.(stream)
      return (streams.get(stream) ?? []).slice(from, from + limit)
    },
    append: async (stream, expected, events: readonly NewEvent[]) => {
      const isLast = kill.at !== undefined && --kill.write === 0
      if (isLast && kill.at === 'before') throw killed()
      const known = streams.get(stream) ?? []
      const last = known.length === 0 ? undefined : known.length - 1
      if (expected !== 'any' && expected !== (last ?? 'no_stream')) return { outcome: 'conflict', revision: last }
      const added = events.map((event, index) => ({
        ...event,
        stream,
        revision: known.length + index,
        position: String(++position).padStart(20, '0') as Position,
        recorded_at: new Date(),
      }))
      streams.set(stream, [...known, ...added])
      if (isLast) throw killed()
      return { outcome: 'appended', revision: known.length + added.length - 1, position: String(position) as Position }
    },
  }
  return {
    log: log as EventLog,
    kill,
    meanwhile,
    streamOf: (stream: string) => streams.get(stream) ?? [],
    streamsOf: (category: string) =>
      [...streams].filter(([name]) => name.startsWith(`${category}-`)).map(([, recorded]) => recorded),
    newId: randomUUID,
  }
}
