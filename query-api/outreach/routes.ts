import { z } from 'zod'
import { CustomerId, OrganisationId, OutreachStreamId } from '#domain/values.ts'
import {
  OperatedStream,
  renderOperated,
  renderStream,
  ShownCost,
  ShownMember,
  ShownMessage,
  ShownStream,
  type OutreachSettings,
  type OutreachStream,
  type StreamCounts,
} from '#domain/outreach/record.ts'
import { notFound } from '#domain/rejection.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import { makeOutbox } from '#infra/message-channels/outbox.ts'
import { impersonalRoute, teamRoute, readOrWrite, route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { newestFirst } from '../newest-first.ts'
import { beginning, pageOf, pageParameters } from '../page.ts'

type Deps = {
  readonly db: Database
  /** For lists. */
  readonly pool: Database
  readonly outreachSettings: ReadonlyMap<string, OutreachSettings>
  readonly dataKeys: Pick<DataKeys, 'of' | 'byId'>
}

const address = '/admin/v1/organisations/:organisation_id/outreach_streams' as const

const OrganisationPath = z.object({ organisation_id: OrganisationId })
const StreamPath = OrganisationPath.extend({ stream_id: OutreachStreamId })
const Page = z.object(pageParameters)

const OutboxShown = z
  .object({
    id: z.uuid(),
    contact_id: CustomerId,
    channel: z.enum(['email', 'sms', 'whatsapp']),
    sent_at: z.iso.datetime(),
    asked: z.int().describe('So often was it to be sent; what comes again goes out once.'),
    content: z
      .object({
        to: z.string(),
        from_name: z.string().nullable(),
        subject: z.string().nullable(),
        text: z.string(),
        unsubscribe_url: z.string(),
        reference: z.string().nullable().default(null).describe('Comes back with news of the message.'),
      })
      .nullable()
      .describe('Null once the person was erased.'),
  })
  .meta({ id: 'OutboxMessage' })

type Row = { readonly document: OutreachStream; readonly counts: StreamCounts }

/** Outreach streams: their progress for the firm's servers, and all that belongs to them for the operator. */
export const outreachReads = ({ db, pool, outreachSettings, dataKeys }: Deps): Route[] => {
  const outbox = makeOutbox({ pool, dataKeys })

  const find = async (organisation_id: OrganisationId, id: OutreachStreamId): Promise<Row> => {
    const { rows } = await db.query<Row>({
      name: 'outreach-stream-by-id',
      ...sql`select document, counts from outreach_streams where organisation_id = ${organisation_id} and id = ${id}`,
    })
    if (!rows[0]) throw notFound('outreach stream')
    return rows[0]
  }

  return [
    route(
      {
        method: 'get',
        address: '/api/v1/outreach/streams/:id',
        tag: 'Outreach',
        summary: 'Read the progress of an outreach stream',
        access: { kind: 'application', scopes: readOrWrite, serverOnly: true },
        path: z.object({ id: OutreachStreamId }),
        answers: { 200: z.object({ data: ShownStream }) },
      },
      async ({ path: { id }, caller: { organisation_id } }) => {
        if (!outreachSettings.get(organisation_id)?.is_on) throw notFound('outreach stream')
        const { document, counts } = await find(organisation_id, id)
        return { status: 200, body: { data: renderStream(document, counts) } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner', 'leads'),
        method: 'get',
        address,
        summary: 'List the outreach streams of an organisation, newest first',
        path: OrganisationPath,
        query: Page,
        answers: { 200: z.object({ data: z.array(OperatedStream), next_cursor: z.string().nullable() }) },
        errors: ['invalid_parameter'],
      },
      async ({ path, query }) => {
        const list = { table: 'outreach_streams', time: 'created_at', besides: ['counts'] } as const
        const { page, next_cursor } = await newestFirst<OutreachStream, Pick<Row, 'counts'>>(pool, list, {
          ...path,
          ...query,
        })
        const data = page.map(({ document, counts }) => renderOperated(document, counts))
        return { status: 200, body: { data, next_cursor } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner', 'leads'),
        method: 'get',
        address: `${address}/:stream_id`,
        summary: 'Show an outreach stream',
        path: StreamPath,
        answers: { 200: z.object({ data: OperatedStream }) },
      },
      async ({ path: { organisation_id, stream_id } }) => {
        const { document, counts } = await find(organisation_id, stream_id)
        return { status: 200, body: { data: renderOperated(document, counts) } }
      },
    ),
    route(
      {
        ...teamRoute('leads'),
        method: 'get',
        address: `${address}/:stream_id/members`,
        summary: 'List the people of an outreach stream, those who joined last first',
        path: StreamPath,
        query: Page.extend({ contact_id: CustomerId.optional() }),
        answers: { 200: z.object({ data: z.array(ShownMember), next_cursor: z.string().nullable() }) },
        errors: ['invalid_parameter'],
      },
      async ({ path: { organisation_id, stream_id }, query: { contact_id, cursor, limit } }) => {
        await find(organisation_id, stream_id)
        const list = { table: 'outreach_members', time: 'joined_at', key: 'contact_id' } as const
        const asked = { organisation_id, cursor, limit }
        const { page, next_cursor } = await newestFirst<ShownMember>(pool, list, asked, { stream_id, contact_id })
        return { status: 200, body: { data: page.map(({ document }) => document), next_cursor } }
      },
    ),
    route(
      {
        ...teamRoute('leads'),
        method: 'get',
        address: `${address}/:stream_id/messages`,
        summary: 'List the messages of an outreach stream, newest first',
        path: StreamPath,
        query: Page.extend({ state: ShownMessage.shape.state.optional() }),
        answers: { 200: z.object({ data: z.array(ShownMessage), next_cursor: z.string().nullable() }) },
        errors: ['invalid_parameter'],
      },
      async ({ path: { organisation_id, stream_id }, query: { state, cursor, limit } }) => {
        await find(organisation_id, stream_id)
        const list = { table: 'outreach_messages', time: 'created_at' } as const
        const asked = { organisation_id, cursor, limit }
        const { page, next_cursor } = await newestFirst<ShownMessage>(pool, list, asked, { stream_id, state })
        return { status: 200, body: { data: page.map(({ document }) => document), next_cursor } }
      },
    ),
    route(
      {
        ...teamRoute('leads'),
        method: 'get',
        address: '/admin/v1/organisations/:organisation_id/outreach_outbox',
        summary: 'List the messages that outside production went nowhere, for want of an account, newest first',
        path: OrganisationPath,
        query: Page,
        answers: { 200: z.object({ data: z.array(OutboxShown), next_cursor: z.string().nullable() }) },
        errors: ['invalid_parameter'],
      },
      async ({ path: { organisation_id }, query: { cursor, limit } }) => {
        const rows = await outbox.list(organisation_id, beginning(cursor, undefined), limit + 1)
        const { page, next_cursor } = pageOf(rows, limit, (row) => ({ at: row.sent_at, id: row.id }))
        const data = page.map(({ id, contact_id, channel, sent_at, asked, content }) =>
          OutboxShown.parse({
            id,
            contact_id,
            channel,
            sent_at: sent_at.toISOString(),
            asked,
            content: content === null ? null : (JSON.parse(content) as unknown),
          }),
        )
        return { status: 200, body: { data, next_cursor } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner', 'leads'),
        method: 'get',
        address: `${address}/:stream_id/costs`,
        summary: 'List what the drafts of an outreach stream cost, call by call, newest first',
        path: StreamPath,
        query: Page,
        answers: { 200: z.object({ data: z.array(ShownCost), next_cursor: z.string().nullable() }) },
        errors: ['invalid_parameter'],
      },
      async ({ path: { organisation_id, stream_id }, query }) => {
        await find(organisation_id, stream_id)
        const list = { table: 'outreach_costs', time: 'charged_at' } as const
        const { page, next_cursor } = await newestFirst<ShownCost>(
          pool,
          list,
          { organisation_id, ...query },
          { stream_id },
        )
        return { status: 200, body: { data: page.map(({ document }) => document), next_cursor } }
      },
    ),
  ]
}
