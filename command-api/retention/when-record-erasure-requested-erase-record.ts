import { idOf } from '#domain/event.ts'
import type { EventOf } from '#domain/event.ts'
import { recordErasure } from '#domain/retention/record-erasure.ts'
import { recordErasureEvents } from '#domain/retention/events.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { Clock } from '#infra/clock.ts'
import { untilShown, type Shown } from '#infra/consumers/until-shown.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { findSetAside } from '../erasures/find-hindrances.ts'
import type { HoldOrErase } from '../erasures/hold-or-erase.ts'
import type { Reaction } from '../reactions/reaction.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { makeLocks } from '../writing/locks.ts'
import { toldIn } from './erase-due.ts'
import { findOneDue } from './find-due.ts'
import { findKept } from './find-kept.ts'
import { makePeriodsOf } from './rules.ts'
import { isKeptWithPerson, streamsOf, subjectsIn, subjectsOf } from './streams.ts'

type Deps = {
  readonly writer: Writer
  readonly pool: Database
  readonly holdOrErase: HoldOrErase
  readonly eventLog: Pick<EventLog, 'read'>
  readonly storedLog: Pick<EventLog, 'read'>
  readonly dataKeys: Pick<DataKeys, 'erase'>
  readonly clock: Clock
  readonly shown: Shown
}

const { RecordErasureRequested } = recordErasureEvents
type Requested = EventOf<{ RecordErasureRequested: typeof RecordErasureRequested }>

/** The clocks of the log and of the database may differ. */
const clocksDifferMs = 60_000

/** True where some of these keys were destroyed since: then all the others go, too. */
const isBegun = async (
  pool: Database,
  organisation_id: OrganisationId,
  subjects: readonly string[],
  since: Date,
): Promise<boolean> => {
  const from = new Date(since.getTime() - clocksDifferMs)
  const { rows } = await pool.query(sql`
    select from unnest(${subjects}::text[]) as own (subject) join data_key on organisation_id = ${organisation_id}
      and (data_key.subject = own.subject or (data_key.subject > own.subject || '#' and data_key.subject < own.subject || '$'))
    where erased_at >= ${from} limit 1`)
  return rows.length > 0
}

/** Why a record is not erased now although that was asked for; undefined: it may be. */
const makeWhyKept = ({ writer, pool, clock, shown }: Deps) => {
  const periodsOf = makePeriodsOf(writer)

  return async ({ organisation_id, kind, record }: Requested): Promise<string | undefined> => {
    await untilShown({ ...shown, withinMs: 10_000 }, toldIn)
    const waiting = await findSetAside(pool, organisation_id, toldIn)
    if (waiting !== undefined) return `${waiting} is set aside by a read model and may tell of it.`
    const periods = await periodsOf(organisation_id)
    const period = periods[kind]
    if (period === undefined) return 'No period is set any more.'
    const asked = { organisation_id, type: record.type, period, now: clock.now() }
    const due = await findOneDue(pool, asked, record.id)
    if (!due) return 'Its period is not over any more.'
    return (await findKept(pool, due, { ...asked, periods }))[0]?.advice
  }
}

/**
 * Destroys the keys of a record, and of nothing else. What came up meanwhile is looked at once more before the first key goes;
 * repeated after that, it destroys the rest.
 */
export const whenRecordErasureRequestedEraseRecord = (
  deps: Deps,
): Reaction<{ RecordErasureRequested: typeof RecordErasureRequested }> => {
  const { writer, pool, holdOrErase, dataKeys } = deps
  const { handle, load } = commandHandler(writer, recordErasure)
  const whyKept = makeWhyKept(deps)
  const inTurn = makeLocks()

  /** Why the keys were left; undefined: they are destroyed. */
  const destroy = (
    requested: Requested,
    subjects: readonly string[],
    recorded_at: Date,
  ): Promise<string | undefined> => {
    const { organisation_id, record, period } = requested
    const destroyOrKeep = async (requireTurn: () => Promise<void>) => {
      // After a restore the record was erased before.
      const isOpen = period !== null && !(await isBegun(pool, organisation_id, subjects, recorded_at))
      const because = isOpen ? await whyKept(requested) : undefined
      if (because !== undefined) return because
      await requireTurn()
      for (const subject of subjects)
        await dataKeys.erase({ organisation_id, subject }, undefined, `${record.type}-${record.id}`)
      return undefined
    }
    // One of an organisation waits for its turn with holds, and not all that are under way.
    return inTurn([organisation_id], async () => holdOrErase(organisation_id, destroyOrKeep))
  }

  return {
    name: 'when-record-erasure-requested-erase-record',
    categories: ['record_erasure'],
    events: { RecordErasureRequested },
    takesTurns: true,
    react: async (requested, { stream, recorded_at, metadata }, context) => {
      // Repeated after it was done, it would take what has begun again since.
      const now = await load(idOf(stream))
      if (now?.state !== 'requested' || now.requested_at !== metadata.occurred_at) return
      const streams = await streamsOf(deps, requested)
      const known = subjectsOf(requested, streams)
      const subjects = [...new Set([...known, ...(await subjectsIn(deps, requested, streams))])]
      const because = await destroy(requested, subjects, recorded_at)
      if (because !== undefined) {
        await handle(idOf(stream), { type: 'GiveUpRecordErasure', because }, context)
        return
      }
      const kept_with_person = await isKeptWithPerson(deps, requested, streams)
      await handle(idOf(stream), { type: 'ConfirmRecordErasure', streams, kept_with_person }, context)
    },
  }
}
