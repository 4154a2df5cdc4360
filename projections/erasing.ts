import { erasureEvents } from '#domain/erasures/events.ts'
import { recordErasureEvents } from '#domain/retention/events.ts'

const { PersonErased } = erasureEvents
const { RecordErased } = recordErasureEvents

/** The events that name streams which are read with empty values from then on. */
export const erasing = { PersonErased, RecordErased }
