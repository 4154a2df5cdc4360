import { retention } from '#domain/retention/retention.ts'
import type { RetentionRules } from '#domain/retention/record.ts'
import type { RetainedRecord } from '#domain/retention/events.ts'
import type { OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'

/** Every record has one stream of its erasures. */
export const recordErasureId = (organisation_id: OrganisationId, { type, id }: RetainedRecord): string =>
  derivedId('record erasure', organisation_id, type, id)

/** The reaction that erases what is asked for. */
export const erasesRecords = 'when-record-erasure-requested-erase-record'

/** The organisations that keep something for a time. */
export const findRules = async (pool: Database): Promise<readonly RetentionRules[]> => {
  const { rows } = await pool.query<{ readonly document: RetentionRules }>({
    text: `select document from retention_rules where document ->> 'periods' <> '{}' order by organisation_id`,
  })
  return rows.map(({ document }) => document)
}

/** The periods of an organisation that are set, and those before that still bind. */
export const makePeriodsOf = (writer: Writer) => commandHandler(writer, retention).load
