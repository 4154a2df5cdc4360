import type { RetainedRecord } from '#domain/retention/events.ts'
import { beginsAgain, recordErasure } from '#domain/retention/record-erasure.ts'
import type { OrganisationId } from '#domain/values.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { recordErasureId } from './rules.ts'

/** True where a record was erased by itself, and did not begin again: it was last changed at that moment. */
export const makeIsErased = (writer: Writer) => {
  const { load } = commandHandler(writer, recordErasure)

  return async (organisation_id: OrganisationId, record: RetainedRecord, changed_at: string): Promise<boolean> => {
    const erasure = await load(recordErasureId(organisation_id, record))
    if (erasure?.state !== 'erased') return false
    return !beginsAgain.includes(record.type) || changed_at <= (erasure.erased_at ?? '')
  }
}
