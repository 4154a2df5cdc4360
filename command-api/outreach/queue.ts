import type { Pool } from 'pg'
import { isTableNotMade, sql } from '#infra/postgres/postgres.ts'
import { consumersBeside } from '#infra/read-models.ts'

const members = 'outreach_members'

export const lowestId = '00000000-0000-0000-0000-000000000000'

/** A place in the order of what is due. */
export type QueuePosition = { readonly due_at: string; readonly id: string }

/** The queued work of outreach streams, as the read model shows it: it may be a moment behind. */
export const makeQueue = (pool: Pick<Pool, 'query'>) => ({
  /** The streams that have something to do, found from one to the next without a look at what each has. */
  streams: async (): Promise<readonly { readonly organisation_id: string; readonly stream_id: string }[]> => {
    try {
      const { rows } = await pool.query<{ organisation_id: string; stream_id: string }>({
        name: 'outreach-streams-with-work',
        ...sql`
          with recursive busy as (
            (select organisation_id, stream_id from outreach_queue order by organisation_id, stream_id limit 1)
            union all
            select following.organisation_id, following.stream_id from busy cross join lateral (
              select organisation_id, stream_id from outreach_queue as queue
              where (queue.organisation_id, queue.stream_id) > (busy.organisation_id, busy.stream_id)
              order by queue.organisation_id, queue.stream_id limit 1) as following
          )
          select organisation_id, stream_id from busy`,
      })
      return rows
    } catch (error) {
      if (isTableNotMade(error)) return []
      throw error
    }
  },

  /** Due work after an item; left out, a run begins at the beginning. */
  next: async (
    organisation_id: string,
    stream_id: string,
    step: 'draft' | 'sending',
    now: string,
    after: QueuePosition | undefined,
    most: number,
  ): Promise<readonly (QueuePosition & { readonly contact_id: string })[]> => {
    const { due_at, id } = after ?? { due_at: '-infinity', id: lowestId }
    const { rows } = await pool.query<{ id: string; contact_id: string; due_at: Date }>({
      name: 'outreach-next-work',
      ...sql`
        select id, contact_id, due_at from outreach_queue
        where organisation_id = ${organisation_id} and stream_id = ${stream_id} and step = ${step} and due_at <= ${now}
          and (due_at, id) > (${due_at}, ${id})
        order by due_at, id limit ${most}`,
    })
    return rows.map((row) => ({ ...row, due_at: row.due_at.toISOString() }))
  },

  /** People of a stream after one of them. */
  membersAfter: async (
    organisation_id: string,
    stream_id: string,
    _number: number,
    after: string,
    most: number,
  ): Promise<readonly string[]> => {
    const { rows } = await pool.query<{ contact_id: string }>(sql`
      select contact_id from outreach_members
      where organisation_id = ${organisation_id} and stream_id = ${stream_id} and contact_id > ${after}
      order by contact_id limit ${most}`)
    return rows.map(({ contact_id }) => contact_id)
  },

  /** Subscribers who have not been given an issue, after one of them. */
  subscribersWithout: async (
    organisation_id: string,
    stream_id: string,
    issue: number,
    after: string,
    most: number,
  ): Promise<readonly string[]> => {
    const { rows } = await pool.query<{ contact_id: string }>(sql`
      select contact_id from outreach_members
      where organisation_id = ${organisation_id} and stream_id = ${stream_id} and subscribes and last_issue < ${issue}
        and contact_id > ${after}
      order by contact_id limit ${most}`)
    return rows.map(({ contact_id }) => contact_id)
  },

  /**
   * True once the list of people has come as far as an issue, or a change of their reminders. Who joins later joins
   * afterwards.
   */
  isPassed: async (organisation_id: string, stream_id: string, number: number): Promise<boolean> => {
    const { rows } = await pool.query(sql`
      select from outreach_queue as queue join lateral (
        select position from consumer_checkpoint where name in (${members}, ${consumersBeside.get(members) ?? members})
        order by length(name) desc limit 1) as checkpoint on true
      where queue.organisation_id = ${organisation_id} and queue.stream_id = ${stream_id} and queue.id = ${stream_id}
        and queue.issue = ${number} and checkpoint.position >= queue.position`)
    return rows.length > 0
  },
})

export type QueuedWork = ReturnType<typeof makeQueue>
