import type { ApplicationId } from '#domain/values.ts'
import type { Parts } from '#infra/parts.ts'
import { sql } from '#infra/postgres/postgres.ts'
import type { MandateOwner } from './payment-news-mandates.ts'

/** Looks a mandate up in the read model of payments; one that is not in it yet is waited for. */
export const makeMandateOwner =
  ({
    pool,
    eventLog,
    progress,
    config,
  }: Pick<Parts, 'pool' | 'eventLog' | 'progress'> & {
    readonly config: Pick<Parts['config'], 'READ_YOUR_WRITES_MS'>
  }): MandateOwner =>
  async (organisation_id, provider_mandate_id) => {
    const read = async () => {
      const { rows } = await pool.query<{ id: string; application_id: ApplicationId }>({
        name: 'owner-of-mandate',
        ...sql`
          select id, application_id from payments
          where organisation_id = ${organisation_id} and reference = ${provider_mandate_id} and kind = 'mandate'`,
      })
      return rows[0]
    }
    const known = await read()
    if (known) return known
    const head = await eventLog.head()
    if (head !== undefined) await progress.wait('application', head, config.READ_YOUR_WRITES_MS)
    return read()
  }
