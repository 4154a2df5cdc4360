import { z } from 'zod'
import { ConsentPurpose } from '#domain/campaigns/events.ts'
import { MessageNewsKind } from '#domain/message-news/events.ts'
import { OutreachChannel } from '#domain/outreach/events.ts'
import { CustomerId, OrganisationId, OutreachStreamId } from '#domain/values.ts'
import { route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { highestId, pageOf, pageParameters, placeOf } from '../page.ts'

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

type Row = { readonly id: string; readonly received_at: Date; readonly document: object }

/** What is shown is named by the schema. */
const shown = ({ id, received_at, document }: Row): MessageNews =>
  MessageNews.parse({ ...document, id, received_at: received_at.toISOString() })

/** What message gateways have told by themselves, for the operator. */
export const messageNewsRoutes = ({ db }: { readonly db: Database }): Route[] => [
  route(
    {
      method: 'get',
      address: '/admin/v1/organisations/:organisation_id/message_news',
      tag: 'Operator',
      summary: 'List what message gateways have told of replies, stops and what is undeliverable, newest first',
      access: { kind: 'operator' },
      path: z.object({ organisation_id: OrganisationId }),
      query: z.object({ ...pageParameters, contact_id: CustomerId.optional() }),
      answers: { 200: z.object({ data: z.array(MessageNews), next_cursor: z.string().nullable() }) },
      errors: ['invalid_parameter'],
    },
    async ({ path: { organisation_id }, query: { limit, cursor, contact_id } }) => {
      const { at, id } = cursor === undefined ? { at: 'infinity', id: highestId } : placeOf(cursor)
      const { rows } = await db.query<Row>({
        // A condition that is not asked for is left out, so that the right index is used.
        text: `select id, received_at, document from message_news
          where organisation_id = $1 and (received_at, id) < ($2, $3) ${contact_id ? 'and contact_id = $5' : ''}
          order by received_at desc, id desc limit $4`,
        values: [organisation_id, at, id, limit + 1, ...(contact_id ? [contact_id] : [])],
      })
      const { page, next_cursor } = pageOf(rows, limit, (row) => ({ at: row.received_at, id: row.id }))
      return { status: 200, body: { data: page.map(shown), next_cursor } }
    },
  ),
]
