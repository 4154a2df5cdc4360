import { setTimeout as pause } from 'node:timers/promises'
import { publicKeysOf, signingKeyOf } from '#infra/audit-tree/audit-keys.ts'
import type { Finding } from '#infra/audit-tree/kept-checkpoints.ts'
import { auditConsumer, newestGeneration } from '#infra/audit-tree/tree-rows.ts'
import { readWitness } from '#infra/audit-tree/witness.ts'
import type { Config } from '#infra/config.ts'
import { makeGuardedHttp } from '#infra/guarded-http.ts'
import { moveCheckpoint, openCheckpoint, type Checkpoint } from '#infra/consumers/checkpoint.ts'
import type { ConsumerParts } from '#infra/consumers/consumer.ts'
import { StaleCheckpoint } from '#infra/consumers/failures.ts'
import { workWhileLeased } from '#infra/consumers/leased-work.ts'
import { beyond, type Batch, type EventLog } from '#infra/event-log/event-log.ts'
import type { Check } from '#infra/http/health.ts'
import { sql, transaction } from '#infra/postgres/postgres.ts'
import { settlesWithin } from '#infra/timeout.ts'
import { fencedNow, recordKey, signTrees } from './sign.ts'
import { findDueAccesses } from './access-leaves.ts'
import { byTree, grow, write, type Filled } from './take-in.ts'
import { openWitnesses, type Witnesses } from './witnesses.ts'
import { openWitnessFile, type WitnessFile } from './witness-file.ts'

type AuditParts = Pick<ConsumerParts, 'pool' | 'leases' | 'log' | 'metrics' | 'signal'> & {
  readonly config: Pick<
    Config,
    | 'BASE_URL'
    | 'AUDIT_KEY'
    | 'AUDIT_KEYS_EARLIER'
    | 'AUDIT_WITNESS_FILE'
    | 'AUDIT_WITNESSES'
    | 'DELIVERY_ALLOWED_HOSTS'
    | 'DELIVERY_ALLOW_HTTP'
  >
  /** As it is stored, with what is personal sealed: the leaves are made of that. */
  readonly storedLog: EventLog
  /** In tests, the time between two looks for what is to be signed, and between two checkpoints of a log. */
  readonly pollMs?: number
}

/** A log that grows is signed at once, and then after such a time again. */
const usuallySignAfterMs = 45_000
const lookEveryMs = 1_000
const eventsAtOnce = 2_000
/** A tile is written again for each batch, so that events of some time are taken in together. */
const restMs = 1_000
const restPerEventMs = 5

/**
 * Follows the log as the only process: adds every event to the tree of its organisation, in the log's order, and signs what has
 * grown. No event is ever set aside or passed over here: where one cannot be taken in, all that follow wait.
 */
export const keepAuditLog = (parts: AuditParts) => {
  const { pool, config, log, signal, leases, pollMs } = parts
  const signAfterMs = pollMs ?? usuallySignAfterMs
  const key = signingKeyOf(config)
  const host = new URL(config.BASE_URL).host
  let refused: readonly Finding[] = []
  let file: WitnessFile | undefined
  let witnesses: Witnesses | undefined
  let isWorking = false

  const sign = async (generation: number, fence: Checkpoint): Promise<void> => {
    if (!key) return
    const refusalOf = (origin: string, size: number) => file?.refusalOf(origin, size) ?? witnesses?.refusalOf(origin)
    const { refused: unsigned, signed } = await signTrees({ pool, key, generation, fence, signAfterMs, refusalOf })
    await file?.keep(signed)
    const found = [
      ...new Map(
        [...(file?.refusals() ?? []), ...(witnesses?.refusals() ?? []), ...unsigned].map((each) => [each.origin, each]),
      ).values(),
    ]
    for (const each of found)
      if (!refused.some(({ origin, reason }) => origin === each.origin && reason === each.reason))
        log.error(each, 'an audit log is not signed any more: it is not what was signed before')
    refused = found
  }

  const openFile = async (generation: number): Promise<WitnessFile | undefined> => {
    const path = config.AUDIT_WITNESS_FILE
    if (path === undefined) return undefined
    return openWitnessFile({ pool, file: path, publicKeys: publicKeysOf(config), generation, log })
  }

  const work = async (during: AbortSignal, wentWell: () => void): Promise<void> => {
    const filled: Filled = { ...(await newestGeneration(pool)), host }
    let checkpoint = await openCheckpoint(pool, auditConsumer)
    if (key) await recordKey(pool, key)
    file = key && (await openFile(filled.generation))
    const ending = new AbortController()
    const stopping = AbortSignal.any([during, ending.signal])
    witnesses = key && (await withWitnesses({ ...parts, generation: filled.generation, signal: stopping }))
    isWorking = true
    const batches = subscribe(parts.storedLog, checkpoint, stopping)
    let signedAt = -Infinity
    let accessesAt = -Infinity
    // What is refused stays so for long: it is not read every second.
    const dueMs = () => signedAt + (refused.length > 0 ? signAfterMs : (pollMs ?? lookEveryMs)) - performance.now()
    const signDue = async () => {
      if (dueMs() > 0) return
      if (performance.now() - accessesAt >= signAfterMs) {
        while (!during.aborted && (await storeAccesses(pool, filled, checkpoint)));
        accessesAt = performance.now()
      }
      await sign(filled.generation, checkpoint)
      signedAt = performance.now()
      wentWell()
    }
    try {
      for (;;) {
        const coming = batches.next()
        coming.catch(() => undefined)
        while (!(await settlesWithin(coming, Math.max(dueMs(), 1)))) await signDue()
        const next = await coming
        if (next.done) return
        const batch = beyond(checkpoint.position, next.value)
        if (batch.events.length > 0) checkpoint = await store(pool, filled, checkpoint, batch)
        wentWell()
        await signDue()
        if (batch.caughtUp) await rest(batch.events.length, during)
      }
    } finally {
      isWorking = false
      ending.abort()
      await witnesses?.finished
      await batches.return?.().catch(() => undefined)
    }
  }

  const { outage, finished } = workWhileLeased({ name: auditConsumer.lease, leases, log, signal, work })
  const check = (): Check => {
    const name = 'audit log'
    const reason = outage()
    if (reason !== undefined) return { name, ok: false, detail: reason }
    const [first] = refused
    if (first)
      return { name, ok: false, detail: `not signed: ${first.origin}: ${first.reason}${others(refused.length)}` }
    if (!isWorking) return { name, ok: true, detail: 'standing by' }
    const unkept = file?.trouble()
    if (unkept !== undefined) return { name, ok: false, detail: `AUDIT_WITNESS_FILE cannot be written: ${unkept}` }
    const unseen = witnesses?.trouble()
    if (unseen !== undefined) return { name, ok: true, detail: `signing; not cosigned: ${unseen}` }
    return { name, ok: true, detail: key ? 'signing' : 'nothing is signed: AUDIT_KEY is not set' }
  }
  return { check, finished }
}

const witnessMs = 5_000
const lookForUnseenMs = 15_000

/** None are asked where AUDIT_WITNESSES names none. */
const withWitnesses = async (parts: AuditParts & { readonly generation: number }): Promise<Witnesses | undefined> => {
  const { config, pollMs = lookForUnseenMs } = parts
  const witnesses = config.AUDIT_WITNESSES.flatMap((text) => readWitness(text) ?? [])
  if (witnesses.length === 0) return undefined
  const allowed = { allowedHosts: config.DELIVERY_ALLOWED_HOSTS, allowHttp: config.DELIVERY_ALLOW_HTTP }
  const http = makeGuardedHttp({ ...allowed, timeoutMs: witnessMs })
  const opened = await openWitnesses({ ...parts, http, witnesses, pollMs })
  return { ...opened, finished: opened.finished.then(() => http.close()) }
}

const others = (count: number): string => (count > 1 ? `, and ${count - 1} others` : '')

const subscribe = (storedLog: EventLog, { position }: Checkpoint, signal: AbortSignal) =>
  storedLog
    .subscribe({
      ...(position !== undefined && { after: position }),
      batchSize: eventsAtOnce,
      isAwaited: false,
      signal,
    })
    [Symbol.asyncIterator]()

/** After a crash of the database, lost work is repeated, because its checkpoint is lost with it. */
const store = async (
  pool: AuditParts['pool'],
  filled: Filled,
  checkpoint: Checkpoint,
  { events, position }: Batch,
): Promise<Checkpoint> => {
  const taken = await grow(pool, filled, byTree(events))
  await transaction(
    pool,
    async (db) => {
      await write(db, taken)
      if (!(await moveCheckpoint(db, auditConsumer.name, checkpoint, position)))
        throw new StaleCheckpoint('Another process fills the audit log.')
    },
    { isRepeatable: true },
  )
  return { ...checkpoint, position }
}

/** Takes in accesses that have no entry yet, and says if there are more. */
const storeAccesses = async (pool: AuditParts['pool'], filled: Filled, fence: Checkpoint): Promise<boolean> => {
  const due = await findDueAccesses(pool, filled.generation)
  if (!due) return false
  const taken = await grow(pool, filled, due.added)
  await transaction(pool, async (db) => {
    await fencedNow(db, fence)
    await write(db, taken)
    await db.query(
      sql`update audit_generation set accesses_until = ${due.until} where generation = ${filled.generation}`,
    )
  })
  return due.isPart
}

const rest = async (events: number, signal: AbortSignal): Promise<void> => {
  if (events === 0) return
  await pause(Math.min(restMs, restPerEventMs * events), undefined, { signal }).catch(() => undefined)
}
