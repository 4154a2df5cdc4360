import { z } from 'zod'
import { unknownApplication } from '#domain/applications/refusals.ts'
import { PaymentId } from '#domain/payments/events.ts'
import { ApplicationId, OrganisationId } from '#domain/values.ts'
import { route, type Route } from '#infra/http/route.ts'
import { operatorContext, operatorRoute } from '../operator.ts'
import type { Applications } from './applications.ts'

const Settled = z.object({
  payment_id: PaymentId,
  status: z.enum(['open', 'authorised', 'succeeded', 'returning', 'returned']),
  failure_code: z.string().nullable(),
  failed_attempts: z.int(),
})

/** What the operator does about card payments. */
export const settlementRoutes = ({ handle, load }: Pick<Applications, 'handle' | 'load'>): Route[] => [
  route(
    {
      ...operatorRoute,
      method: 'post',
      address: '/admin/v1/organisations/:organisation_id/applications/:id/card_payments/:payment_id/settlement',
      summary:
        'Have a card payment charged or given back once more, after it was left to the team; else nothing changes',
      path: z.object({ organisation_id: OrganisationId, id: ApplicationId, payment_id: PaymentId }),
      answers: { 200: z.object({ data: Settled }) },
    },
    async ({ path: { organisation_id, id, payment_id }, ...facts }) => {
      if ((await load(id))?.record.organisation_id !== organisation_id) throw unknownApplication()
      const command = { type: 'RequestSettlement', payment_id } as const
      const { state } = await handle(id, command, operatorContext(organisation_id, facts))
      const card = state?.payments.cards.find((each) => each.payment_id === payment_id)
      if (!card) throw new Error(`Card payment ${payment_id} was found and does not exist.`)
      const { status, failure_code, failed_attempts } = card
      return { status: 200, body: { data: { payment_id, status, failure_code, failed_attempts } } }
    },
  ),
]
