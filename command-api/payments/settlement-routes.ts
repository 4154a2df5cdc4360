import { z } from 'zod'
import type { ApplicationCommand } from '#domain/applications/application.ts'
import { PaymentId } from '#domain/payments/events.ts'
import { dateIn } from '#domain/time-zone.ts'
import { ApplicationId, OrganisationId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { route, type RequestFacts, type Route } from '#infra/http/route.ts'
import { WithReason } from '../given-reason.ts'
import { teamContext, teamRoute } from '../operator.ts'
import type { Applications } from '../applications/applications.ts'
import { closingOf, RefundClosing } from './refund-closing.ts'

const Settled = z.object({
  payment_id: PaymentId,
  status: z.enum(['open', 'authorised', 'succeeded', 'returning', 'returned']),
  failure_code: z.string().nullable(),
  failed_attempts: z.int(),
})

const address = '/admin/v1/organisations/:organisation_id/applications/:id/card_payments/:payment_id'
const path = z.object({ organisation_id: OrganisationId, id: ApplicationId, payment_id: PaymentId })
const answers = { 200: z.object({ data: Settled }) }

/** The operator's routes for card payments. */
export const settlementRoutes = ({
  handle,
  load,
  timeZoneOf,
}: Pick<Applications, 'handle' | 'load' | 'timeZoneOf'>): Route[] => {
  const act = async (
    { organisation_id, id, payment_id }: z.output<typeof path>,
    command: () => ApplicationCommand,
    facts: RequestFacts,
  ) => {
    if ((await load(id))?.record.organisation_id !== organisation_id) throw notFound('application')
    const { state } = await handle(id, command(), teamContext(organisation_id, facts))
    const card = state?.payments.cards.find((each) => each.payment_id === payment_id)
    if (!card) throw new Error(`Card payment ${payment_id} was found and does not exist.`)
    const { status, failure_code, failed_attempts } = card
    return { status: 200 as const, body: { data: { payment_id, status, failure_code, failed_attempts } } }
  }

  return [
    route(
      {
        ...teamRoute('finance'),
        method: 'post',
        address: `${address}/settlement`,
        summary:
          'Have a card payment charged or given back once more, after it was left to the team; else nothing changes',
        path,
        body: WithReason,
        answers,
      },
      async ({ path: given, body: { reason: note }, ...facts }) =>
        act(given, () => ({ type: 'RequestSettlement', payment_id: given.payment_id, note }), facts),
    ),
    route(
      {
        ...teamRoute('finance'),
        method: 'post',
        address: `${address}/closure`,
        summary:
          'Close a card payment that could not be given back: the customer was paid in another way, or it is owed no more',
        path,
        body: RefundClosing,
        answers,
        errors: ['conflict'],
      },
      async ({ path: given, body, ...facts }) => {
        const { organisation_id, payment_id } = given
        const closing = () => closingOf(body, dateIn(timeZoneOf(organisation_id), facts.now))
        return act(given, () => ({ type: 'CloseCardReturn', payment_id, closing: closing() }), facts)
      },
    ),
  ]
}
