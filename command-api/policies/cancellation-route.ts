import { z } from 'zod'
import { policy } from '#domain/policies/policy.ts'
import { Policy, renderPolicy } from '#domain/policies/record.ts'
import { PolicyId, type OrganisationId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { route, write, type Route } from '#infra/http/route.ts'
import { commandHandler, type Context, type Writer } from '../writing/handle.ts'

type Deps = {
  readonly writer: Writer
  readonly baseUrl: string
  /** The date where an organisation is. */
  readonly dateAt: (organisation_id: OrganisationId, now: string) => string
}

const CancelledPolicy = Policy.extend({
  refund_pence: z.int().describe('What was paid, and is given back by itself.'),
}).meta({ id: 'CancelledPolicy' })

/**
 * The cooling-off cancellation, which needs no reason: a server of the firm may do it for the customer. All others are the
 * team's.
 */
export const cancellationRoute = ({ writer, baseUrl, dateAt }: Deps): Route => {
  const { handle, load } = commandHandler(writer, policy)

  return route(
    {
      method: 'post',
      address: '/api/v1/policies/:id/cancellation',
      tag: 'Policies',
      summary:
        'Cancel a policy within its cooling-off period: all that was paid is given back. Sent again, it changes nothing more',
      access: { kind: 'application', scopes: write, serverOnly: true },
      path: z.object({ id: PolicyId }),
      body: z.object({
        reason: z
          .string()
          .trim()
          .max(500)
          .nullish()
          .transform((text) => text || null)
          .describe('What the customer says, if anything. For the team; shown to nobody else.'),
      }),
      answers: { 200: z.object({ data: CancelledPolicy }) },
      errors: ['invalid_transition'],
    },
    async ({ path: { id }, body: { reason: note }, caller, ...facts }) => {
      const { organisation_id, api_application_id } = caller
      if ((await load(id))?.organisation_id !== organisation_id) throw notFound('policy')
      const context: Context = {
        organisation_id,
        actor: { type: 'api', id: api_application_id },
        correlation_id: facts.request_id,
        now: facts.now,
      }
      const command = { type: 'CoolOff', note, today: dateAt(organisation_id, facts.now) } as const
      const { state } = await handle(id, command, context)
      if (!state) throw notFound('policy')
      return { status: 200, body: { data: { ...renderPolicy(state, baseUrl), refund_pence: state.refund_pence } } }
    },
  )
}
