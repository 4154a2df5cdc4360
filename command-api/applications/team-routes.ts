import { createHash } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { TeamLoading } from '#domain/applications/events.ts'
import { journeyOfApplication, TeamApplication, type ApplicationRecord } from '#domain/applications/record.ts'
import type { TeamAct } from '#domain/applications/team.ts'
import { ApplicationId, CalendarDate, QuoteId } from '#domain/values.ts'
import { route, type RequestFacts, type Route } from '#infra/http/route.ts'
import { isWithin } from '#infra/http/team.ts'
import { teamContext, teamRoute } from '../operator.ts'
import type { Applications } from './applications.ts'
import { dateIn } from '#domain/time-zone.ts'
import { notFound } from '#domain/rejection.ts'

const text = z.string().min(1).max(500)
const Why = {
  reason_code: text.nullable().default(null),
  reason_message: text.nullable().default(null).describe('For the customer.'),
}

const Loading = TeamLoading.extend({
  value: z
    .string()
    .describe('percent: a whole percentage, such as 50. per_mille: pounds a year for each £1,000, such as 1.50.'),
  cover_types: TeamLoading.shape.cover_types.default(null),
  life: TeamLoading.shape.life.default(1),
})
  .refine(
    ({ basis, value }) =>
      basis === 'percent' ? /^[1-9]\d{0,2}$/.test(value) : /^\d{1,3}\.\d{2}$/.test(value) && Number(value) > 0,
    { path: ['value'], error: 'must be a whole percentage from 1 to 999, or pounds and pence such as 1.50' },
  )
  .meta({
    anyOf: [
      { properties: { basis: { const: 'percent' }, value: { pattern: '^[1-9][0-9]{0,2}$' } } },
      {
        properties: {
          basis: { const: 'per_mille' },
          value: { pattern: String.raw`^([1-9][0-9]{0,2}\.[0-9]{2}|[0-9]{1,3}\.([1-9][0-9]|[0-9][1-9]))$` },
        },
      },
    ],
  })

const DecisionRequest = z.discriminatedUnion('decision', [
  z.object({
    decision: z.literal('accept'),
    loadings: z.array(Loading).max(20).default([]),
    reason_message: Why.reason_message,
  }),
  z.object({ decision: z.literal('decline'), ...Why }),
  z.object({
    decision: z.literal('postpone'),
    until: CalendarDate.nullable().default(null).describe('It can be opened again from that day on.'),
    ...Why,
  }),
  z.object({ decision: z.literal('give_back'), reason_message: Why.reason_message }),
  z.object({ decision: z.literal('reopen'), reason_message: Why.reason_message }),
  z.object({ decision: z.literal('withdraw') }),
])
type DecisionRequest = z.output<typeof DecisionRequest>

const digest = (plain: string): string => createHash('sha256').update(plain).digest('hex')

type Deps = Pick<Applications, 'handle' | 'load' | 'releaseOf' | 'timeZoneOf' | 'catalogue'>

/** The team's decisions about an application that is with it, was postponed, or is given up. */
export const teamRoutes = ({ handle, load, releaseOf, timeZoneOf, catalogue }: Deps): Route[] => {
  const actOf = async (
    request: DecisionRequest,
    record: ApplicationRecord,
    { now }: RequestFacts,
  ): Promise<TeamAct> => {
    const today = dateIn(timeZoneOf(record.organisation_id), now)
    switch (request.decision) {
      case 'accept': {
        const release = await releaseOf(record)
        return {
          type: 'AcceptReferred',
          loadings: request.loadings,
          reason_message: request.reason_message,
          quote_id: QuoteId.parse(uuidv7()),
          start_date: null,
          now,
          today,
          release,
          journey: journeyOfApplication(release, record),
          rate_tables: await catalogue.rateTablesOf(release),
          digest,
        }
      }
      case 'decline': {
        const { reason_code, reason_message } = request
        return { type: 'DeclineReferred', reason_code, reason_message, now }
      }
      case 'postpone': {
        const { reason_code, reason_message, until } = request
        return { type: 'PostponeReferred', reason_code, reason_message, until, now }
      }
      case 'give_back':
        return { type: 'GiveBackReferred', reason_message: request.reason_message }
      case 'reopen':
        return { type: 'ReopenPostponed', reason_message: request.reason_message, today }
      case 'withdraw':
        return { type: 'WithdrawApplication', now }
    }
  }

  return [
    route(
      {
        ...teamRoute('underwriting'),
        method: 'post',
        address: '/admin/v1/team_applications/:id/decisions',
        summary:
          'Accept (with loadings, where the team wants them), decline, postpone or give back what is with the team; reopen what was postponed; withdraw what is open',
        path: z.object({ id: ApplicationId }),
        body: DecisionRequest,
        answers: { 200: z.object({ data: TeamApplication }) },
        errors: ['conflict'],
      },
      async ({ path: { id }, body, ...facts }) => {
        const before = await load(id)
        if (!before || !isWithin(facts, before.record.organisation_id)) throw notFound('application')
        const act = await actOf(body, before.record, facts)
        const { state } = await handle(id, act, teamContext(before.record.organisation_id, facts))
        if (!state) throw notFound('application')
        return { status: 200, body: { data: state.record } }
      },
    ),
  ]
}
