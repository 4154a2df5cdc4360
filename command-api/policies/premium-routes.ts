import { z } from 'zod'
import { premiumOf } from '#domain/policies/premium-of.ts'
import { Policy, renderPolicy } from '#domain/policies/record.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import { PremiumId, PremiumRefundId } from '#domain/premiums/events.ts'
import { Premium } from '#domain/premiums/record.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { BankCalendar } from '#domain/working-days.ts'
import { derivedId, newId } from '#infra/ids.ts'
import { route, type Route } from '#infra/http/route.ts'
import type { Writer } from '../handle.ts'
import { keyInHeader, onceForKey } from '../idempotency-key.ts'
import { operatorRoute } from '../operator.ts'
import { closingOf, RefundClosing } from '../refund-closing.ts'
import { makeAct, policyAddress, policyPath } from './act.ts'

type Deps = {
  readonly writer: Writer
  readonly calendar: BankCalendar
  readonly baseUrl: string
  /** The date where an organisation is. */
  readonly dateAt: (organisation_id: OrganisationId, now: string) => string
}

const premiumPath = policyPath.extend({ premium_id: PremiumId })

/** What the operator does about premiums, and about cover that depends on them. */
export const premiumRoutes = ({ writer, calendar, baseUrl, dateAt }: Deps): Route[] => {
  const act = makeAct(writer)
  const shownPremium = (state: PolicyState, id: PremiumId) => ({
    status: 200 as const,
    body: { data: Premium.parse(premiumOf(state, id)) },
  })
  const shownPolicy = (state: PolicyState) => ({ status: 200 as const, body: { data: renderPolicy(state, baseUrl) } })
  const premiumAnswers = { 200: z.object({ data: Premium }) }
  const policyAnswers = { 200: z.object({ data: Policy }) }

  return [
    route(
      {
        ...operatorRoute,
        method: 'post',
        address: `${policyAddress}/premiums/:premium_id/retry`,
        summary: 'Have a premium that has failed collected again now; else nothing changes',
        path: premiumPath,
        answers: premiumAnswers,
        errors: ['conflict'],
      },
      async ({ path, ...facts }) => {
        const { premium_id } = path
        return shownPremium(
          await act(path, { type: 'RetryPremium', premium_id, by: 'operator', now: facts.now }, facts),
          premium_id,
        )
      },
    ),
    route(
      {
        ...operatorRoute,
        method: 'post',
        address: `${policyAddress}/premiums/:premium_id/refund`,
        summary: 'Give a collected premium back, whole or in part',
        path: premiumPath,
        headers: { 'Idempotency-Key': onceForKey('refund') },
        body: z.object({
          refund_pence: z.int().min(1).nullish().describe('By default all that is left of it.'),
        }),
        answers: premiumAnswers,
        errors: ['conflict', 'idempotency_key_conflict'],
      },
      async ({ path, body, ...facts }) => {
        const { premium_id } = path
        const key = keyInHeader(facts)
        const refund_id = PremiumRefundId.parse(
          key === undefined ? newId() : derivedId('premium_refund', premium_id, key),
        )
        const refund_pence = body.refund_pence ?? null
        return shownPremium(
          await act(path, { type: 'RefundPremium', premium_id, refund_id, refund_pence }, facts),
          premium_id,
        )
      },
    ),
    route(
      {
        ...operatorRoute,
        method: 'post',
        address: `${policyAddress}/premiums/:premium_id/refunds/:refund_id/retry`,
        summary: 'Have a refund tried once more, after it was left to the team; else nothing changes',
        path: premiumPath.extend({ refund_id: PremiumRefundId }),
        answers: premiumAnswers,
        errors: ['conflict'],
      },
      async ({ path, ...facts }) => {
        const { premium_id, refund_id } = path
        return shownPremium(await act(path, { type: 'RequestRefund', premium_id, refund_id }, facts), premium_id)
      },
    ),
    route(
      {
        ...operatorRoute,
        method: 'post',
        address: `${policyAddress}/premiums/:premium_id/refunds/:refund_id/closure`,
        summary:
          'Close a refund that was left to the team: the customer was paid in another way, or it is owed no more',
        path: premiumPath.extend({ refund_id: PremiumRefundId }),
        body: RefundClosing,
        answers: premiumAnswers,
        errors: ['conflict'],
      },
      async ({ path, body, ...facts }) => {
        const { organisation_id, premium_id, refund_id } = path
        const closing = closingOf(body, dateAt(organisation_id, facts.now))
        return shownPremium(await act(path, { type: 'CloseRefund', premium_id, refund_id, closing }, facts), premium_id)
      },
    ),
    route(
      {
        ...operatorRoute,
        method: 'post',
        address: `${policyAddress}/premiums/:premium_id/write_off`,
        summary: 'Ask for a premium no more: one that has failed, or cannot be asked for (no mandate, no account)',
        path: premiumPath,
        answers: premiumAnswers,
        errors: ['conflict'],
      },
      async ({ path, ...facts }) => {
        const { premium_id } = path
        return shownPremium(
          await act(path, { type: 'WriteOffPremium', premium_id, reason: 'operator' }, facts),
          premium_id,
        )
      },
    ),
    route(
      {
        ...operatorRoute,
        method: 'post',
        address: `${policyAddress}/suspension`,
        summary: 'Suspend the cover of an active policy',
        path: policyPath,
        answers: policyAnswers,
        errors: ['conflict'],
      },
      async ({ path, ...facts }) => shownPolicy(await act(path, { type: 'SuspendPolicy' }, facts)),
    ),
    route(
      {
        ...operatorRoute,
        method: 'post',
        address: `${policyAddress}/reinstatement`,
        summary: 'Reinstate a policy that is suspended, or has lapsed not long ago',
        path: policyPath,
        answers: policyAnswers,
        errors: ['conflict'],
      },
      async ({ path, ...facts }) =>
        shownPolicy(await act(path, { type: 'ReinstatePolicy', now: facts.now, calendar }, facts)),
    ),
  ]
}
