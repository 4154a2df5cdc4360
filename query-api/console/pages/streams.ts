import { z } from 'zod'
import { OperatedStream } from '#domain/outreach/record.ts'
import type { List } from '../list.ts'
import { apiOf, pageOf, type Page } from '../page.ts'
import { badge, empty, facts, link, moment, money, section, text, words, type Tone } from '../show.ts'
import { h, type View } from '../view.ts'
import { setUpChanges } from './set-up-changes.ts'

type Stream = z.infer<typeof OperatedStream>

const tones: Readonly<Record<string, Tone>> = { active: 'good', closed: 'wait' }

const stateOf = ({ status, archived_at, started_at, paused_at }: Stream): View => {
  if (archived_at !== null) return badge('archived')
  if (started_at === null) return badge('not started', 'wait')
  return paused_at === null ? badge(status, tones[status]) : badge('paused', 'wait')
}

export const streams: List<typeof OperatedStream> = {
  title: 'Outreach streams',
  path: 'outreach_streams',
  api: 'outreach_streams',
  item: OperatedStream,
  filters: [],
  none: 'No outreach stream is set up yet. The set-up file declares them.',
  columns: (organisation_id) => [
    { title: 'Stream', show: ({ id, name }) => link(pageOf(organisation_id, `outreach_streams/${id}`), name) },
    { title: 'State', show: stateOf },
    { title: 'Kind', show: ({ kind }) => words(kind) },
    { title: 'People', show: ({ rows_count }) => String(rows_count), isNumber: true },
    { title: 'Sent', show: ({ sent_count }) => String(sent_count), isNumber: true },
    { title: 'Cost', show: ({ total_cost_pence }) => money(total_cost_pence), isNumber: true },
  ],
}

const message = (title: string, { subject, body }: { readonly subject: string | null; readonly body: string }): View =>
  h(
    'li',
    {},
    h('p', { class: 'quiet' }, title),
    subject !== null && h('p', {}, h('strong', {}, subject)),
    h('pre', {}, body),
  )

/** One outreach stream: what it says, to how many, and at what cost. */
export const streamPage: Page = {
  address: '/console/organisations/:organisation_id/outreach_streams/:stream_id',
  show: async (asked) => {
    const address = apiOf(asked.organisation?.id ?? '', `outreach_streams/${asked.path['stream_id'] ?? ''}`)
    const [{ data: stream }, changes] = await Promise.all([
      asked.read(address, z.object({ data: OperatedStream })),
      setUpChanges(asked, asked.path['stream_id']),
    ])
    const { texts, follow_up } = stream
    return {
      title: stream.name,
      main: [
        facts([
          ['State', stateOf(stream)],
          ['Kind', words(stream.kind)],
          ['For', words(stream.purpose)],
          ['Goal', words(stream.goal)],
          ['Channels', stream.channels.join(', ')],
          ['From', text(stream.from_name)],
          ['Sends by itself', stream.auto_send ? 'yes' : 'no: each message is approved'],
          ['People', String(stream.rows_count)],
          ['Sent nothing', String(stream.skipped_count)],
          ['Messages sent', String(stream.sent_count)],
          ['Could not be sent', String(stream.errored_count)],
          ['To be approved', String(stream.awaiting_approval_count)],
          ['Replied', String(stream.outcomes.replied)],
          ['Applied', String(stream.outcomes.applications)],
          ['Bought', String(stream.outcomes.bound)],
          ['Cost', [money(stream.total_cost_pence), ' of ', money(stream.cost_ceiling_pence)]],
          ['Campaigns', stream.campaigns.join(', ') || 'none'],
          ['Made', moment(stream.created_at)],
        ]),
        section(
          'What it says',
          texts.length === 0 && follow_up === null
            ? empty('Its messages are written for each person.')
            : h(
                'ol',
                { class: 'timeline' },
                texts.map((each) => message(`After ${each.after_days} days`, each)),
                follow_up && message('Follow-up', follow_up),
              ),
        ),
        changes,
      ],
    }
  },
}
