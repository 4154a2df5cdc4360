import { applicationStreamEvents, type ApplicationStreamEvent } from '#domain/applications/record.ts'
import { fromStored, type RecordedEvent } from '#domain/event.ts'
import { ErasedEvent } from '#infra/crypto/erased.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { readWhole } from '../as-of/related-events.ts'

export type Told = { readonly event: ApplicationStreamEvent; readonly recorded: RecordedEvent }

/** An event of which something, or all, is gone with a person. */
export type Gone = { readonly recorded: RecordedEvent; readonly fields: readonly string[] }

export type ApplicationEvents = { readonly told: readonly Told[]; readonly gone: readonly Gone[] }

const isOfApplication = (type: string): type is keyof typeof applicationStreamEvents =>
  Object.hasOwn(applicationStreamEvents, type)

/** The events of an application of the organisation, with what is gone of them. */
export const readApplication = async (
  eventLog: Pick<EventLog, 'read'>,
  application_id: string,
  organisation_id: string,
): Promise<ApplicationEvents> => {
  const told: Told[] = []
  const gone: Gone[] = []
  for (const recorded of await readWhole(eventLog, `application-${application_id}`)) {
    const { type, metadata, erased } = recorded
    if (metadata.organisation_id !== organisation_id || !isOfApplication(type)) continue
    const fields = applicationStreamEvents[type].personal
    try {
      told.push({ event: fromStored(applicationStreamEvents, recorded), recorded })
      if (erased && fields.length > 0) gone.push({ recorded, fields })
    } catch (error) {
      if (!(error instanceof ErasedEvent)) throw error
      gone.push({ recorded, fields })
    }
  }
  return { told, gone }
}
