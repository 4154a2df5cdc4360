import type { Pool } from 'pg'
import { fromStored, organisationOf, type RecordedEvent } from '#domain/event.ts'
import type { ApplicationId } from '#domain/values.ts'
import { whenQuoteEndedClosePayments } from '../../command-api/applications/when-quote-ended-close-payments.ts'
import type { Context, Writer } from '../../command-api/writing/handle.ts'
import type { Timer } from '../../command-api/reactions/timers.ts'
import { dueTimes } from '../../projections/due-times/projection.ts'
import { fillReadModel } from '../read-model.ts'

type Deps = {
  readonly writer: Writer
  readonly pool: Pool
  readonly timers: readonly Timer[]
  readonly eventsOf: (application_id: ApplicationId) => Promise<readonly RecordedEvent[]>
}

const rounds = 6

/** Does, until nothing more is due, what is due of an application's payments at a time although nobody asks for anything. */
export const makeSettle = ({ writer, pool, timers, eventsOf }: Deps) => {
  const reaction = whenQuoteEndedClosePayments(writer)
  const kinds = timers.map(({ kind }) => kind)

  return async (application_id: ApplicationId, now: string): Promise<void> => {
    for (let round = 0; round < rounds; round++) {
      const events = await eventsOf(application_id)
      const [first] = events
      if (!first) throw new Error('The application was not started.')
      const organisation_id = organisationOf(first)
      const context: Context = { organisation_id, actor: { type: 'system', id: null }, correlation_id: 'test', now }
      for (const recorded of events)
        if (recorded.type in reaction.events)
          await reaction.react(fromStored(reaction.events, recorded), recorded, context)

      await pool.query('drop table if exists due_times')
      await fillReadModel(pool, [dueTimes], await eventsOf(application_id))
      const { rows } = await pool.query<{ kind: string; id: string; stream: string; due_at: Date }>(
        `select kind, id, stream, due_at from due_times where kind = any($1) and due_at <= $2 order by due_at`,
        [kinds, now],
      )
      if (rows.length === 0) return
      for (const { due_at, ...row } of rows) {
        const timer = timers.find(({ kind }) => kind === row.kind)
        await timer?.fire({ ...row, organisation_id, due_at: due_at.toISOString() }, context)
      }
    }
  }
}
