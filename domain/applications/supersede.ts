import type { ApplicationEvent } from './events.ts'
import { isOpen, type ApplicationState } from './state.ts'

/** A caller who did not receive the answer to an earlier request has started again and replaces the earlier application. */
export type SupersedeApplication = {
  readonly type: 'SupersedeApplication'
  readonly by: Pick<ApplicationState['record'], 'id' | 'product_id' | 'journey_id' | 'customer'>
  readonly now: string
}

const withinMs = 3_600_000

/**
 * Keys may be guessed, and a web page cannot prove that it sent the earlier request: its answer, with the share token,
 * never arrived. So an application is superseded only if it was not changed since and the new one repeats it in full.
 */
export const supersedeApplication = (
  { by, now }: SupersedeApplication,
  state: ApplicationState | undefined,
): readonly ApplicationEvent[] => {
  if (!state) return []
  const { record } = state
  const isRecent = Date.parse(now) - Date.parse(record.created_at) <= withinMs
  const isUntouched = record.updated_at === record.created_at
  const isRepeated =
    record.product_id === by.product_id &&
    record.journey_id === by.journey_id &&
    record.customer?.id === by.customer?.id
  return record.id !== by.id && isOpen(record) && isRecent && isUntouched && isRepeated
    ? [{ type: 'ApplicationAbandoned', reason: 'superseded_by_retry', superseded_by: by.id }]
    : []
}
