import { z } from 'zod'
import { ConsentPurpose } from '#domain/campaigns/events.ts'
import { MessageNewsKind } from '#domain/message-news/events.ts'
import { OutreachChannel } from '#domain/outreach/events.ts'
import { CustomerId, OrganisationId, OutreachStreamId } from '#domain/values.ts'
import { teamRoute, route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { newestFirst, type ListedRow } from '../newest-first.ts'
import { pageParameters } from '../page.ts'

const MessageNews = z
  .object({
    id: z.uuid(),
    kind: MessageNewsKind,
    channel: OutreachChannel,
    contact_id: CustomerId.nullable().describe('Null: nobody is known by it.'),
    stream_id: OutreachStreamId.nullable(),
    message_id: z.uuid().nullable().describe('The outreach message that it is about.'),
    purposes: z.array(ConsentPurpose).describe('Of unsubscribe: what consent is withdrawn for.'),
    address: z.string().nullable(),
    text: z.string().nullable().describe('What they wrote; of what is undeliverable, why.'),
    received_at: z.iso.datetime(),
  })
  .meta({ id: 'MessageNews' })
type MessageNews = z.infer<typeof MessageNews>

/** The schema names the fields shown. */
const shown = ({ id, at, document }: ListedRow<object>): MessageNews =>
  MessageNews.parse({ ...document, id, received_at: at.toISOString() })

const list = { table: 'message_news', time: 'received_at' } as const

/** Reports that message gateways send by themselves, for the operator. */
export const messageNewsRoutes = ({ db }: { readonly db: Database }): Route[] => [
  route(
    {
      method: 'get',
      address: '/admin/v1/organisations/:organisation_id/message_news',
      summary: 'List what message gateways have told of replies, stops and what is undeliverable, newest first',
      ...teamRoute('leads'),
      path: z.object({ organisation_id: OrganisationId }),
      query: z.object({ ...pageParameters, contact_id: CustomerId.optional() }),
      answers: { 200: z.object({ data: z.array(MessageNews), next_cursor: z.string().nullable() }) },
      errors: ['invalid_parameter'],
    },
    async ({ path, query: { contact_id, ...paging } }) => {
      const asked = { ...path, ...paging }
      const { page, next_cursor } = await newestFirst<object>(db, list, asked, { contact_id })
      return { status: 200, body: { data: page.map(shown), next_cursor } }
    },
  ),
]
