import { customerEvents } from '#domain/customers/events.ts'
import { idOf } from '#domain/event.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import type { Reaction } from '../reactions/reaction.ts'
import { isGranted, type OutreachPeople, type OutreachPeopleDeps } from './people.ts'
import type { LiveOutreach } from './streams.ts'

const { CustomerConsentRecorded } = customerEvents

/** A person who withdraws consent leaves the streams that can no longer send them anything. */
export const whenConsentRecordedEndMembership = (
  people: OutreachPeople,
  live: LiveOutreach,
  recordOf: OutreachPeopleDeps['recordOf'],
): Reaction<{ CustomerConsentRecorded: typeof CustomerConsentRecorded }> => ({
  name: 'when-consent-recorded-end-membership',
  categories: ['customer'],
  events: { CustomerConsentRecorded },
  target: (_event, { stream }) => people.stream(idOf(stream)),
  react: async (_event, { stream }, context) => {
    const contact_id = CustomerId.parse(idOf(stream))
    const known = await recordOf(OrganisationId.parse(context.organisation_id), contact_id)
    await people.handle(
      contact_id,
      {
        type: 'NoteConsent',
        streams: (id) => live.streams.get(id),
        isGranted: (purpose, channel) => isGranted(known?.consent ?? [], purpose, channel),
      },
      context,
    )
  },
})
