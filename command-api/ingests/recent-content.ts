import type { ApiApplicationId, IngestId } from '#domain/values.ts'
import { batched } from '#infra/batched.ts'
import type { Log } from '#infra/log.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { texts, uuids } from '#infra/postgres/arrays.ts'
import { committedWithLog, sql } from '#infra/postgres/postgres.ts'

/** Content sent by an API application: its keyed hash, and the ingest that it is to become. */
export type SentContent = {
  readonly api_application_id: ApiApplicationId
  readonly digest: string
  readonly ingest_id: IngestId
}

/** Answers which ingest a content belongs to: that of the same content sent within the last 5 minutes, or the given one. */
export type ClaimContent = (sent: SentContent) => Promise<IngestId>

/** The ingest of the same content sent within the last 5 minutes; undefined when there is none. */
export type FindContent = (sent: Omit<SentContent, 'ingest_id'>) => Promise<IngestId | undefined>

/** Takes back that a content belongs to an ingest, which has turned out to be of another. */
export type ReleaseContent = (sent: SentContent) => Promise<void>

const sweepEveryMs = 60_000
const sweptAtOnce = 10_000

const nameOf = ({ api_application_id, digest }: SentContent): string => `${api_application_id} ${digest}`

type Parts = {
  readonly pool: Database
  readonly log: Pick<Log, 'warn'>
  /** True where events are stored in the same database. */
  readonly logIsHere?: boolean
}

/**
 * Tells retries from new leads by their content, in real time. Many share a statement. Whoever is told another ingest
 * than its own may find that this was never stored, because its process died: it then stores it.
 */
export const makeRecentContent = ({
  pool,
  log,
  logIsHere = false,
}: Parts): {
  readonly claimContent: ClaimContent
  readonly findContent: FindContent
  readonly releaseContent: ReleaseContent
} => {
  let sweptAt = 0

  const sweep = () => {
    if (Date.now() - sweptAt < sweepEveryMs) return
    sweptAt = Date.now()
    pool
      .query(
        sql`
        delete from ingest_content where ctid = any (array(
          select ctid from ingest_content where received_at < now() - interval '10 minutes' limit ${sweptAtOnce}))`,
      )
      .catch((error: unknown) => log.warn({ error }, 'contents of former leads could not be deleted'))
  }

  const claim = async (sent: readonly SentContent[]): Promise<readonly IngestId[]> => {
    const distinct = new Map<string, SentContent>()
    for (const each of sent) if (!distinct.has(nameOf(each))) distinct.set(nameOf(each), each)
    // Always in the same order, so that two processes never wait for each other in a circle.
    const sorted = [...distinct.values()].toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
    const { rows } = await pool.query<SentContent>({
      name: 'ingest-content-claim',
      text: `
        insert into ingest_content as known (api_application_id, digest, ingest_id, received_at)
        select api_application_id, digest, ingest_id, clock_timestamp()
        from unnest($1::uuid[], $2::text[], $3::uuid[]) as given (api_application_id, digest, ingest_id)
        on conflict (api_application_id, digest) do update set
          ingest_id = case when known.received_at > clock_timestamp() - interval '5 minutes'
            then known.ingest_id else excluded.ingest_id end,
          received_at = case when known.received_at > clock_timestamp() - interval '5 minutes'
            then known.received_at else excluded.received_at end
        returning api_application_id, digest, ingest_id, ${committedWithLog('$4')}`,
      values: [
        uuids(sorted.map(({ api_application_id }) => api_application_id)),
        texts(sorted.map(({ digest }) => digest)),
        uuids(sorted.map(({ ingest_id }) => ingest_id)),
        logIsHere,
      ],
    })
    sweep()
    const found = new Map(rows.map((row) => [nameOf(row), row.ingest_id]))
    return sent.map((each) => found.get(nameOf(each)) ?? each.ingest_id)
  }

  return {
    claimContent: batched(claim, { mostAtOnce: 500, mostWaiting: 10_000, mostInFlight: 2 }),
    findContent: async ({ api_application_id, digest }) => {
      const { rows } = await pool.query<SentContent>(sql`
        select ingest_id from ingest_content
        where api_application_id = ${api_application_id} and digest = ${digest}
          and received_at > clock_timestamp() - interval '5 minutes'`)
      return rows[0]?.ingest_id
    },
    releaseContent: async ({ api_application_id, digest, ingest_id }) => {
      await pool.query(sql`
        delete from ingest_content
        where api_application_id = ${api_application_id} and digest = ${digest} and ingest_id = ${ingest_id}`)
    },
  }
}
