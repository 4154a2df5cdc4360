import { isSameJson } from '#domain/canonical-json.ts'
import { idOf, type EventOf, type RecordedEvent } from '#domain/event.ts'
import { recordErasure } from '#domain/retention/record-erasure.ts'
import { recordErasureEvents } from '#domain/retention/events.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { Clock } from '#infra/clock.ts'
import type { Shown } from '#infra/consumers/until-shown.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { findSetAside, telling, untilShownAll } from '../erasures/find-hindrances.ts'
import type { HoldOrErase } from '../erasures/hold-or-erase.ts'
import type { Reaction } from '../reactions/reaction.ts'
import type { Turn } from '../writing/alone.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { makeLocks } from '../writing/locks.ts'
import { findOneDue } from './find-due.ts'
import { findKept } from './find-kept.ts'
import { erasesRecords, makePeriodsOf } from './rules.ts'
import { isKeptWithPerson, revisionsOf, streamsOf, subjectsIn, subjectsOf } from './streams.ts'

type Deps = {
  readonly writer: Writer
  readonly pool: Database
  readonly holdOrErase: HoldOrErase
  readonly eventLog: Pick<EventLog, 'read'>
  readonly storedLog: Pick<EventLog, 'read'>
  readonly dataKeys: Pick<DataKeys, 'decide' | 'destroyDecided'>
  readonly clock: Clock
  readonly shown: Shown
}

const { RecordErasureRequested } = recordErasureEvents
type Requested = EventOf<{ RecordErasureRequested: typeof RecordErasureRequested }>

/** The clocks of the log and of the database may differ. */
const clocksDifferMs = 60_000

type Begun = { readonly is_decided: boolean; readonly is_begun: boolean }

/**
 * That the destruction of these keys was decided because of this request; or that some of them were destroyed since, by the version
 * before or by ERASED_KEYS_FILE: then all the others go, too.
 */
const findBegun = async (
  pool: Database,
  { organisation_id }: Requested,
  subjects: readonly string[],
  { id, recorded_at }: RecordedEvent,
): Promise<Begun> => {
  const from = new Date(recorded_at.getTime() - clocksDifferMs)
  const { rows } = await pool.query<Begun>(sql`
    select coalesce(bool_or(erasing ->> 'request' = ${id}), false) as is_decided,
      coalesce(bool_or(erasing is null and erased_at >= ${from}), false) as is_begun
    from unnest(${subjects}::text[]) as own (subject) join data_key on organisation_id = ${organisation_id}
      and (data_key.subject = own.subject or (data_key.subject > own.subject || '#' and data_key.subject < own.subject || '$'))`)
  return rows[0] ?? { is_decided: false, is_begun: false }
}

/** When a start has destroyed keys of the record again; undefined: none did. */
const findDestroyedAgain = async (
  pool: Database,
  organisation_id: OrganisationId,
  stream: string,
): Promise<Date | undefined> => {
  const { rows } = await pool.query<{ readonly since: Date }>(sql`
    select since from record_erased_again where organisation_id = ${organisation_id} and stream = ${stream}`)
  return rows[0]?.since
}

/** Why a record is not erased now although that was asked for; undefined: it may be. */
const makeWhyKept = ({ writer, pool, clock, shown }: Deps) => {
  const periodsOf = makePeriodsOf(writer)

  return async ({ organisation_id, kind, record }: Requested): Promise<string | undefined> => {
    await untilShownAll(shown)
    const waiting = await findSetAside(pool, organisation_id, telling)
    if (waiting !== undefined) return `${waiting} is set aside by a read model and may tell of it.`
    const rules = await periodsOf(organisation_id)
    const period = rules.periods[kind]
    if (period === undefined) return 'No period is set any more.'
    const now = clock.now()
    const due = await findOneDue(pool, { organisation_id, type: record.type, periods: [period], now }, record.id)
    if (!due) return 'Its period is not over any more.'
    return (await findKept(pool, due, { organisation_id, rules, now }))[0]?.advice
  }
}

/**
 * Destroys the keys of a record, and of nothing else. What came up meanwhile is looked at once more before that is decided; repeated
 * after that, it destroys the rest.
 */
export const whenRecordErasureRequestedEraseRecord = (
  deps: Deps,
): Reaction<{ RecordErasureRequested: typeof RecordErasureRequested }> => {
  const { writer, pool, holdOrErase, dataKeys } = deps
  const { handle, load } = commandHandler(writer, recordErasure)
  const whyKept = makeWhyKept(deps)
  const inTurn = makeLocks()

  /** Why the keys are left; undefined: that they are destroyed is decided. */
  const decide = async (
    requested: Requested,
    recorded: RecordedEvent,
    streams: readonly string[],
    { db }: Pick<Turn, 'db'>,
  ): Promise<string | undefined> => {
    const { organisation_id, record, period } = requested
    const before = await revisionsOf(deps, streams)
    const known = subjectsOf(requested, streams)
    const subjects = [...new Set([...known, ...(await subjectsIn(deps, requested, streams))])]
    const { is_decided, is_begun } = await findBegun(pool, requested, subjects, recorded)
    if (is_decided) return undefined
    const erasing = { contact_id: null, record: `${record.type}-${record.id}`, request: recorded.id }
    // After a restore the record was erased before; what has begun again since stays.
    if (period === null || is_begun) {
      const since = await findDestroyedAgain(pool, organisation_id, erasing.record)
      await dataKeys.decide(db, { organisation_id, subjects }, erasing, since ?? recorded.recorded_at)
      return undefined
    }
    const because = await whyKept(requested)
    if (because !== undefined) return because
    if (!isSameJson(before, await revisionsOf(deps, streams))) return 'It was changed just now.'
    await dataKeys.decide(db, { organisation_id, subjects }, erasing)
    return undefined
  }

  return {
    name: erasesRecords,
    categories: ['record_erasure'],
    events: { RecordErasureRequested },
    takesTurns: true,
    react: async (requested, recorded, context) => {
      const { stream, metadata } = recorded
      const { organisation_id } = requested
      // Repeated after it was done, it would take what has begun again since.
      const now = await load(idOf(stream))
      if (now?.state !== 'requested' || now.requested_at !== metadata.occurred_at) return
      // Others wait while it has its turn.
      if (requested.period !== null) await untilShownAll(deps.shown)
      const streams = await streamsOf(deps, requested)
      // One of an organisation waits for its turn with holds, and not all that are under way.
      const isKept = await inTurn([organisation_id], async () => {
        const kept = await holdOrErase(organisation_id, async (turn) => {
          const because = await decide(requested, recorded, streams, turn)
          if (because === undefined) return false
          // Whoever has the next turn may destroy the keys.
          await turn.require()
          await handle(idOf(stream), { type: 'GiveUpRecordErasure', because }, context)
          return true
        })
        if (!kept) await dataKeys.destroyDecided(organisation_id)
        return kept
      })
      if (isKept) return
      const kept_with_person = await isKeptWithPerson(deps, requested, streams)
      await handle(idOf(stream), { type: 'ConfirmRecordErasure', streams, kept_with_person }, context)
    },
  }
}
