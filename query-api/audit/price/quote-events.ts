import { z } from 'zod'
import { applicationStreamEvents, type ApplicationStreamEvent } from '#domain/applications/record.ts'
import { fromStored, type RecordedEvent } from '#domain/event.ts'
import { ErasedEvent } from '#infra/crypto/erased.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { readWhole } from '../as-of/related-events.ts'

export type Told = { readonly event: ApplicationStreamEvent; readonly recorded: RecordedEvent }

/** An event of which something, or all, is gone with a person. */
export type Gone = { readonly recorded: RecordedEvent; readonly fields: readonly string[] }

export const ShownGone = z.object({
  event_id: z.uuid(),
  type: z.string(),
  recorded_at: z.iso.datetime(),
  fields: z.array(z.string()),
})

export const shownGone = ({ recorded: { id, type, recorded_at }, fields }: Gone): z.input<typeof ShownGone> => ({
  event_id: id,
  type,
  recorded_at: recorded_at.toISOString(),
  fields: [...fields],
})

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
