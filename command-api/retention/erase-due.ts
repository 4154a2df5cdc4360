import { erasure } from '#domain/erasures/erasure.ts'
import { mayBeErased } from '#domain/erasures/hindrances.ts'
import { OwnError } from '#domain/own-error.ts'
import { recordErasure } from '#domain/retention/record-erasure.ts'
import { bindingPeriods, type RetentionRules } from '#domain/retention/record.ts'
import type { CustomerId, OrganisationId } from '#domain/values.ts'
import type { Clock } from '#infra/clock.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import type { Leases } from '#infra/consumers/lease.ts'
import { repeatWhileLeased } from '#infra/consumers/leased-work.ts'
import { newId } from '#infra/ids.ts'
import type { Log } from '#infra/log.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { reasonOf } from '#infra/reason.ts'
import { findSetAside, telling } from '../erasures/find-hindrances.ts'
import { makeErasureRequest, type RequestDeps } from '../erasures/request.ts'
import { commandHandler, type Context, type Writer } from '../writing/handle.ts'
import { findDue, kindOf, recordsDue, type DueRecord, type Place, type RecordType } from './find-due.ts'
import { findKept } from './find-kept.ts'
import { findPeopleDue } from './find-people.ts'
import { erasesRecords, findRules, recordErasureId } from './rules.ts'

type Deps = RequestDeps & {
  readonly writer: Writer
  readonly pool: Database
  readonly dataKeys: Pick<DataKeys, 'erase' | 'halfErased'>
  readonly leases: Leases
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
  readonly pollMs?: number
}

const name = 'retention'
const pageSize = 50
/** So many of an organisation are under way at most. */
const mostUnderWay = 200
/** It rests for twenty times as long as it worked, but never for longer than so many polls. */
const share = 20
const mostPolls = 100
const eraseRestEveryMs = 3_600_000

/** The records of one type of one organisation, or its people, which are looked through page by page. */
type Walk =
  | { readonly rules: RetentionRules; readonly type: RecordType; readonly after: Place | undefined }
  | { readonly rules: RetentionRules; readonly type: 'person'; readonly after: string | undefined }

const isFull = async (pool: Database, organisation_id: OrganisationId): Promise<boolean> => {
  const { rows } = await pool.query<{ readonly count: number }>(sql`
    select count(*)::integer as count from (
      select from record_erasures where organisation_id = ${organisation_id} and state = 'requested'
      limit ${mostUnderWay}) as under_way`)
  return (rows[0]?.count ?? 0) >= mostUnderWay
}

/** Throws where what is under way is set aside: nobody else would say that nothing more is asked for. */
const refuseStopped = async (pool: Database, organisation_id: OrganisationId): Promise<void> => {
  const { rows } = await pool.query<{ readonly stream: string }>(sql`
    select stream from consumer_set_aside where consumer = ${erasesRecords} and organisation_id = ${organisation_id}
    order by set_aside_at limit 1`)
  const [waiting] = rows
  if (waiting)
    throw new OwnError(
      `${mostUnderWay} erasures are under way, and ${waiting.stream} is set aside by ${erasesRecords}: resume it first.`,
    )
}

/** Asks for the erasure of one page; the walk that is left, if any. */
const makeAskForPage = ({ writer, pool, clock, log, ...deps }: Deps) => {
  const records = commandHandler(writer, recordErasure)
  const people = commandHandler(writer, erasure)
  const erasureRequest = makeErasureRequest({ pool, ...deps })
  const contextFor = (organisation_id: OrganisationId): Context => ({
    organisation_id,
    actor: { type: 'system', id: name },
    correlation_id: newId(),
    isShownLater: true,
    now: clock.now().toISOString(),
  })

  const askFor = async ({ organisation_id, periods }: RetentionRules, { ended_at, ...due }: DueRecord) => {
    const command = { type: 'RequestRecordErasure', organisation_id, ...due } as const
    const period = periods[due.kind] ?? null
    const id = recordErasureId(organisation_id, due.record)
    await records.handle(id, { ...command, period, ended_at: ended_at.toISOString() }, contextFor(organisation_id))
  }

  const askForPerson = async (rules: RetentionRules, contact_id: CustomerId) => {
    const { organisation_id } = rules
    const request = await erasureRequest({ organisation_id, contact_id }, null)
    // What is held and names them is theirs, too.
    if (!mayBeErased(request.hindrances) || request.streams.length > 0) return
    // All that was stored so far is shown by now.
    const still = await findPeopleDue(pool, { organisation_id, rules, now: clock.now(), only: contact_id })
    if (still.people.length > 0) await people.handle(contact_id, request, contextFor(organisation_id))
  }

  const eachOf = async <Item>(items: readonly Item[], work: (item: Item) => Promise<void>) => {
    for (const item of items)
      await work(item).catch((error: unknown) => log.warn({ error, item }, 'what is due could not be erased yet'))
  }

  return async (walk: Walk): Promise<Walk | undefined> => {
    const { rules } = walk
    const { organisation_id } = rules
    const now = clock.now()
    if (walk.type === 'person') {
      const { people: due, after } = await findPeopleDue(pool, { organisation_id, rules, now, after: walk.after })
      await eachOf(due, async (contact_id) => askForPerson(rules, contact_id))
      return after === undefined ? undefined : { rules, type: 'person', after }
    }
    const periods = bindingPeriods(rules, now)[kindOf(walk.type)]
    if (periods === undefined) return undefined
    if (await isFull(pool, organisation_id)) {
      await refuseStopped(pool, organisation_id)
      return undefined
    }
    const page = await findDue(pool, {
      organisation_id,
      type: walk.type,
      periods,
      now,
      after: walk.after,
      limit: pageSize,
    })
    await eachOf(page.records, async (due) => {
      if ((await findKept(pool, due, { organisation_id, rules, now })).length === 0) await askFor(rules, due)
    })
    return page.after && { rules, type: walk.type, after: page.after }
  }
}

/**
 * Asks for the erasure of every record whose period is over, and of people of whom nothing is kept any more. Organisations take
 * turns, page by page; one that fails is tried again the next time, and holds up no other.
 */
export const eraseDue = (deps: Deps) => {
  const { pool, dataKeys, leases, clock, log, signal, pollMs = 1_000 } = deps
  const askForPage = makeAskForPage(deps)
  let failed: string | undefined

  const attempt = async <Result>({ organisation_id }: RetentionRules, work: () => Promise<Result>) => {
    try {
      return await work()
    } catch (error) {
      failed = `${organisation_id}: ${reasonOf(error)}`
      log.warn({ error, organisation_id }, 'what is due could not be looked through')
      return undefined
    }
  }

  const begin = async (rules: RetentionRules): Promise<readonly Walk[]> => {
    const waiting = await findSetAside(pool, rules.organisation_id, telling)
    if (waiting !== undefined) throw new OwnError(`${waiting} is set aside by a read model: resume it first.`)
    const types = recordsDue(bindingPeriods(rules, clock.now()))
    return [
      ...types.map((type) => ({ rules, type, after: undefined })),
      { rules, type: 'person' as const, after: undefined },
    ]
  }

  const sweep = async (working: AbortSignal) => {
    failed = undefined
    let open: Walk[] = []
    for (const rules of await findRules(pool)) open.push(...((await attempt(rules, async () => begin(rules))) ?? []))
    while (open.length > 0) {
      const left: Walk[] = []
      for (const walk of open) {
        if (working.aborted) return
        const rest = await attempt(walk.rules, async () => askForPage(walk))
        if (rest) left.push(rest)
      }
      open = left
    }
  }

  /** A process of the version before, which knows no keys below a person's, may have erased somebody during an upgrade. */
  const eraseRest = async (working: AbortSignal) => {
    let people = await dataKeys.halfErased()
    while (people.length > 0 && !working.aborted) {
      for (const person of people) await dataKeys.erase(person, person.subject.slice('person:'.length))
      people = await dataKeys.halfErased()
    }
  }

  let restErasedAt = -Infinity
  const { check, finished } = repeatWhileLeased({
    name,
    leases,
    log,
    signal,
    turn: async (working) => {
      if (performance.now() - restErasedAt > eraseRestEveryMs) {
        await eraseRest(working)
        restErasedAt = performance.now()
      }
      await sweep(working)
    },
    restMs: (workedMs) => Math.min(mostPolls * pollMs, Math.max(pollMs, share * workedMs)),
  })
  return { check: () => check(failed), finished }
}
