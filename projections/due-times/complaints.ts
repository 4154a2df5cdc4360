import type { ComplaintEvent } from '#domain/complaints/events.ts'

/** When a complaint that is not decided becomes overdue; null: not any more, undefined: as before. */
export const complaintDueTime = (event: ComplaintEvent): string | null | undefined => {
  switch (event.type) {
    case 'ComplaintOpened':
      return event.overdue_from
    case 'ComplaintDecided':
    case 'ComplaintClosed':
    case 'ComplaintFellOverdue':
      return null
    case 'ComplaintNoteAdded':
    case 'ComplaintRedressed':
      return undefined
    case 'ComplaintReferred':
      return event.overdue_from ?? undefined
  }
}
