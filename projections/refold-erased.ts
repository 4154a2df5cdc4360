import { categoryOf } from '#domain/event.ts'
import { setAside, waitingEvents, type Unhandled } from '#infra/consumers/set-aside.ts'
import { takeOverCheckpoint } from '#infra/consumers/checkpoint.ts'
import type { ConsumerParts } from '#infra/consumers/consumer-type.ts'
import { OwnError } from '#domain/own-error.ts'
import { reasonOf } from '#infra/reason.ts'
import { transaction } from '#infra/postgres/postgres.ts'
import { refoldEvents } from './fold.ts'
import type { SomeProjection } from './projection.ts'
import type { Table } from './table.ts'

/** Folds again a stream about a person who was erased, in a table that a consumer keeps up to date. */
export const refoldErased = (
  projection: SomeProjection,
  { table, consumer }: { readonly table: Table; readonly consumer: string },
  stream: string,
  { pool, eventLog, signal }: Pick<ConsumerParts, 'pool' | 'eventLog' | 'signal'>,
): Promise<void> =>
  transaction(pool, async (db) => {
    // Whoever keeps the table has worked from rows that are replaced here, and begins again.
    const { position: upTo } = await takeOverCheckpoint(db, consumer)
    if (upTo === undefined) throw new OwnError(`${consumer} has gone back to the beginning of the log.`)
    const pages = async function* () {
      for await (const { events } of waitingEvents(eventLog, [{ stream, revision: 0 }], upTo))
        yield events.filter(({ type }) => Object.hasOwn(projection.events, type))
    }
    const failed: Unhandled[] = []
    await refoldEvents(db, projection, table, pages(), {
      setEventAside: (event, error) => failed.push({ event, record: stream, reason: reasonOf(error) }),
    })
    await setAside(db, consumer, failed)
    signal.throwIfAborted()
  })

/** The streams of a read model about a person who was erased. One whose rows several streams share holds nothing of persons. */
export const ownStreams = (
  { categories, sharesRows, holdsNothingPersonal }: SomeProjection,
  streams: readonly string[],
): readonly string[] =>
  sharesRows || holdsNothingPersonal ? [] : streams.filter((stream) => categories.includes(categoryOf(stream)))
