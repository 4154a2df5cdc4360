import { idOf } from '#domain/event.ts'
import { outreachPersonEvents } from '#domain/outreach/events.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import type { Leads } from '../leads/live-leads.ts'
import type { Reaction } from '../reactions/reaction.ts'
import type { LiveOutreach } from './streams.ts'

const { OutreachMessageSent, OutreachSurveyAnswered, OutreachEngaged } = outreachPersonEvents

const recorded = { OutreachMessageSent, OutreachSurveyAnswered, OutreachEngaged }

/** Messages, answers and visits stand on the timeline of the lead. */
export const whenOutreachHappenedRecordActivity = (
  leads: Pick<Leads, 'find' | 'handle' | 'stream'>,
  live: LiveOutreach,
): Reaction<typeof recorded> => ({
  name: 'when-outreach-happened-record-activity',
  categories: ['outreach_person'],
  events: recorded,
  target: (_event, { stream }) => leads.stream(CustomerId.parse(idOf(stream))),
  react: async (event, { stream, id }, context) => {
    const contact_id = CustomerId.parse(idOf(stream))
    if (event.type === 'OutreachEngaged' && event.by !== 'landing') return
    if (!(await leads.find(OrganisationId.parse(context.organisation_id), contact_id))) return
    const name = live.streams.get(event.stream_id)?.name ?? 'an outreach stream'
    const isSent = event.type === 'OutreachMessageSent'
    await leads.handle(
      {
        contact_id,
        acts: [
          {
            type: 'RecordActivity',
            activity_id: derivedId('outreach_activity', id),
            kind: isSent ? event.channel : event.type === 'OutreachEngaged' ? 'link_clicked' : 'survey_answered',
            summary: isSent
              ? `A message of ${name} was sent`
              : event.type === 'OutreachEngaged'
                ? `Came by a link of ${name}`
                : `Answered the survey ${name}`,
            channel: isSent ? event.channel : 'web',
            direction: isSent ? 'outbound' : 'inbound',
            related: { type: 'outreach_stream', id: event.stream_id },
            happened_at: context.now,
          },
        ],
        by: { type: isSent ? 'system' : 'contact', name: null },
      },
      context,
    )
  },
})
