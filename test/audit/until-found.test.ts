import { expect, test } from 'vitest'
import type { Position } from '#domain/event.ts'
import { consumersBeside } from '#infra/read-models.ts'
import { untilFound } from '../../query-api/audit/as-of/until-found.ts'
import { testDatabase } from '../database.ts'

test.each([undefined, 'ledger'] as const)(
  'while the read model (%s) has not come to the end of the log, an answer of long ago could lack events: 503',
  async (readModel) => {
    await using database = await testDatabase()
    const { pool } = database
    const eventLog = { head: async () => '2' as Position }
    const standAt = (position: string) =>
      pool.query(
        `insert into consumer_checkpoint (name, version, position, categories, awaited) values ($1, 1, $2, '{}', false)
          on conflict (name) do update set position = excluded.position`,
        [consumersBeside.get(readModel ?? 'recorded_events'), position],
      )
    const longAgo = { known_at: '2020-01-01T00:00:00.000Z' }

    await standAt('1')
    await expect(untilFound({ db: pool, eventLog }, longAgo, readModel)).rejects.toMatchObject({ code: 'unavailable' })

    await standAt('2')
    await expect(untilFound({ db: pool, eventLog }, longAgo, readModel)).resolves.toBeUndefined()
  },
)
