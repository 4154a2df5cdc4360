import { z } from 'zod'
import type { PersonCommand } from '#domain/outreach/person.ts'
import { CustomerId, OrganisationId, OutreachStreamId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { Problem } from '#infra/http/problem.ts'
import { route, type Route } from '#infra/http/route.ts'
import { teamContext, teamRoute } from '../operator.ts'
import type { OutreachPeople } from './people.ts'
import type { LiveOutreach, Streams } from './streams.ts'

type Deps = { readonly people: OutreachPeople; readonly streams: Pick<Streams, 'load'>; readonly live: LiveOutreach }

const address = '/admin/v1/organisations/:organisation_id/outreach_streams/:stream_id' as const
const StreamPath = z.object({ organisation_id: OrganisationId, stream_id: OutreachStreamId })
const MessagePath = StreamPath.extend({ contact_id: CustomerId, message_id: z.uuid().toLowerCase() })

const atOnce = 16

const Joined = z.object({
  contact_id: CustomerId,
  state: z.enum(['in', 'refused', 'ended', 'no_lead']).describe('refused: no consent, or no date that lies ahead.'),
})

const Judged = z.object({
  data: z.object({ id: z.uuid(), act: z.enum(['approve', 'edit', 'discard']) }),
})

/** The operator's routes for the people of a stream, and for the messages that wait for approval. */
export const outreachMemberRoutes = ({ people, streams, live }: Deps): Route[] => {
  const streamOf = async (organisation_id: OrganisationId, stream_id: OutreachStreamId) => {
    const { stream } = await streams.load(stream_id)
    if (stream?.organisation_id !== organisation_id) throw notFound('outreach stream')
    return stream
  }

  return [
    route(
      {
        ...teamRoute('leads'),
        method: 'post',
        address: `${address}/members`,
        summary: 'Have leads join an outreach stream. Each joins once, and only with consent to what it is for',
        path: StreamPath,
        body: z.object({
          people: z
            .array(
              z.object({
                contact_id: CustomerId,
                columns: z
                  .record(z.string().max(64), z.string().max(500))
                  .default({})
                  .describe('What the list says of the person, for texts and reminders.'),
              }),
            )
            .min(1)
            .max(200),
        }),
        errors: ['conflict'],
        answers: { 200: z.object({ data: z.array(Joined) }) },
      },
      async ({ path: { organisation_id, stream_id }, body, ...facts }) => {
        const stream = await streamOf(organisation_id, stream_id)
        if (!live.settings.get(organisation_id)?.is_on)
          throw new Problem('conflict', 'Outreach is not switched on for the organisation. Switch it on first.')
        const context = teamContext(organisation_id, facts)
        const by = { type: 'operator', id: null } as const
        const data: z.output<typeof Joined>[] = []
        const waiting = body.people.entries()
        const join = async () => {
          for (const [index, { contact_id, columns }] of waiting) {
            const member = await people.join(stream, contact_id, { columns, by }, context)
            data[index] = { contact_id, state: member?.state ?? 'no_lead' }
          }
        }
        await Promise.all(Array.from({ length: atOnce }, join))
        return { status: 200, body: { data } }
      },
    ),
    route(
      {
        ...teamRoute('leads'),
        method: 'post',
        address: `${address}/members/:contact_id/messages/:message_id/acts`,
        summary: 'Approve, edit or discard a message that waits for approval',
        path: MessagePath,
        body: z.discriminatedUnion('act', [
          z.object({ act: z.literal('approve') }),
          z.object({
            act: z.literal('edit'),
            subject: z.string().trim().min(1).max(200).nullable().optional(),
            body: z.string().trim().min(1).max(10_000).optional(),
          }),
          z.object({ act: z.literal('discard') }),
        ]),
        errors: ['conflict'],
        answers: { 200: Judged },
      },
      async ({ path: { organisation_id, stream_id, contact_id, message_id }, body, ...facts }) => {
        await streamOf(organisation_id, stream_id)
        const person = await people.load(contact_id)
        const isOfStream = (person.messages[message_id]?.stream_id ?? stream_id) === stream_id
        if (person.organisation_id !== organisation_id || !person.members[stream_id] || !isOfStream)
          throw notFound('message')
        await people.handle(contact_id, commandOf(message_id, body), teamContext(organisation_id, facts))
        return { status: 200, body: { data: { id: message_id, act: body.act } } }
      },
    ),
  ]
}

type Judgement =
  | { readonly act: 'approve' | 'discard' }
  | { readonly act: 'edit'; readonly subject?: string | null | undefined; readonly body?: string | undefined }

const commandOf = (message_id: string, judgement: Judgement): PersonCommand => {
  switch (judgement.act) {
    case 'approve':
      return { type: 'ApproveMessage', message_id }
    case 'discard':
      return { type: 'DiscardMessage', message_id }
    case 'edit':
      return { type: 'EditMessage', message_id, subject: judgement.subject, body: judgement.body }
  }
}
