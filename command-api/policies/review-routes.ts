import { z } from 'zod'
import { fromStored } from '#domain/event.ts'
import { policyEvents, type PolicyEvent } from '#domain/policies/events.ts'
import { policy } from '#domain/policies/policy.ts'
import { PriceStep, RateTableUsed } from '#domain/rating/events.ts'
import { notFound, Rejection } from '#domain/rejection.ts'
import { CalendarDate } from '#domain/values.ts'
import { route, type Route } from '#infra/http/route.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { teamRoute } from '../operator.ts'
import { policyAddress, policyPath } from './act.ts'

const ReviewExplanation = z
  .object({
    review_on: CalendarDate,
    rate_tables: z.array(RateTableUsed),
    components: z
      .array(
        z.object({
          cover_index: z.int(),
          term_years: z.int().nullable().describe('The years that were left.'),
          steps: z.array(PriceStep),
        }),
      )
      .describe('Empty for a person who was erased.'),
  })
  .meta({ id: 'ReviewExplanation' })

const { PolicyReviewPriced } = policyEvents
type Priced = Extract<PolicyEvent, { type: 'PolicyReviewPriced' }>

const pageSize = 500

/** The price of a review that priced itself, as recorded then, of both people. */
export const reviewRoutes = (writer: Writer): Route[] => {
  const { load } = commandHandler(writer, policy)

  const pricedOn = async (stream: string, review_on: string): Promise<readonly Priced[]> => {
    const found: Priced[] = []
    for (let from = 0; ; from += pageSize) {
      const page = await writer.log.read(stream, { from, limit: pageSize })
      for (const recorded of page) {
        if (recorded.type !== 'PolicyReviewPriced') continue
        const event = fromStored({ PolicyReviewPriced }, recorded)
        if (event.review_on === review_on) found.push(event)
      }
      if (page.length < pageSize) return found
    }
  }

  return [
    route(
      {
        ...teamRoute('underwriting', 'policies'),
        method: 'get',
        address: `${policyAddress}/reviews/:review_on/explanation`,
        summary: 'Explain the price of a review that priced itself, as steps that add up to each premium',
        path: policyPath.extend({ review_on: CalendarDate }),
        answers: { 200: z.object({ data: ReviewExplanation }) },
      },
      async ({ path: { organisation_id, id, review_on } }) => {
        if ((await load(id))?.organisation_id !== organisation_id) throw notFound('policy')
        const [first, second] = await pricedOn(`policy-${id}`, review_on)
        if (!first) throw new Rejection('not_found', `No review of ${review_on} priced itself.`)
        const components = first.components.map((component) => {
          const others =
            second?.components.find(({ cover_index }) => cover_index === component.cover_index)?.steps ?? []
          return { ...component, steps: inOrder([...component.steps], [...others]) }
        })
        return { status: 200, body: { data: { review_on, rate_tables: first.rate_tables, components } } }
      },
    ),
  ]
}

/** As they were added up: the second person's after the first's, before those of the whole. */
const inOrder = (steps: PriceStep[], others: PriceStep[]): PriceStep[] => {
  const whole = steps.findIndex(({ life }) => life === null)
  return whole === -1 ? [...steps, ...others] : [...steps.slice(0, whole), ...others, ...steps.slice(whole)]
}
