import { z } from 'zod'
import { Policy, renderPolicy } from '#domain/policies/record.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import { Pence } from '#domain/values.ts'
import type { BankCalendar } from '#domain/working-days.ts'
import { route, type Route } from '#infra/http/route.ts'
import type { Writer } from '../writing/handle.ts'
import type { Catalogue } from '../catalogue/live-catalogue.ts'
import { teamRoute } from '../operator.ts'
import { makeAct, makePreview, policyAddress, policyPath, previewAnswer, previewing } from './act.ts'

type Deps = {
  readonly writer: Writer
  readonly baseUrl: string
  readonly catalogue: Pick<Catalogue, 'release'>
  readonly calendar: BankCalendar
}

const text = z.string().trim().min(1).max(500)
const nullable = <Schema extends z.ZodType>(schema: Schema) => schema.nullable().default(null)

const Components = z
  .array(
    z.object({
      cover_index: z.int().min(0),
      cover_amount_pence: nullable(Pence.min(0)),
      premium_pence: nullable(Pence.min(0)),
    }),
  )
  .max(50)
  .describe('What is left out stays as it is.')

const Amendment = z.object({
  components: Components.default([]),
  collection_day: nullable(z.int().min(1).max(28)).describe(
    'One of the collection days of the product. The next premium is collected on the first such day from the one told at the sale on, or the next working day; with less than 10 days until then it stays where it is, and the one after it is the first on the new day.',
  ),
  note: nullable(text).describe('For the team; shown to nobody else.'),
})

/** The operator's routes for policies that go on. */
export const servicingRoutes = ({ writer, baseUrl, catalogue, calendar }: Deps): Route[] => {
  const act = makeAct(writer)
  const preview = makePreview({ writer, calendar })
  const collectionDays = async ({ organisation_id, product_id, product_release_id }: PolicyState) => {
    const release = await catalogue.release(organisation_id, product_id, product_release_id)
    if (!release) throw new Error(`Release ${product_release_id} of product ${product_id} does not exist.`)
    return release.checkout.collection_days
  }
  const amendment = (body: z.output<typeof Amendment>, now: string) => async (state: PolicyState) =>
    ({ type: 'AmendPolicy', ...body, collection_days: await collectionDays(state), calendar, now }) as const
  const shown = (state: PolicyState) => ({ status: 200 as const, body: { data: renderPolicy(state, baseUrl) } })
  const answers = { 200: z.object({ data: Policy }) }

  return [
    route(
      {
        ...teamRoute('policies'),
        method: 'post',
        address: `${policyAddress}/amendment`,
        summary: 'Change covers, premiums or the day of collection from the next premium on',
        path: policyPath,
        body: Amendment,
        answers,
        errors: ['conflict'],
      },
      async ({ path: given, body, ...facts }) => shown(await act(given, amendment(body, facts.now), facts)),
    ),
    route(
      {
        ...previewing(teamRoute('policies')),
        method: 'post',
        address: `${policyAddress}/amendment/preview`,
        summary: 'Show what an amendment would do to covers and to the next premiums; nothing changes',
        path: policyPath,
        body: Amendment,
        answers: previewAnswer,
        errors: ['conflict'],
      },
      async ({ path: given, body, ...facts }) => preview(given, amendment(body, facts.now), facts),
    ),
    route(
      {
        ...teamRoute('policies'),
        method: 'post',
        address: `${policyAddress}/review`,
        summary:
          'Conclude the review of reviewable premiums, with the premiums from then on: one that could not be priced, or in place of its price',
        path: policyPath,
        body: z.object({ components: Components.default([]) }),
        answers,
        errors: ['conflict'],
      },
      async ({ path: given, body: { components }, ...facts }) =>
        shown(await act(given, { type: 'ReviewPolicy', components, now: facts.now }, facts)),
    ),
  ]
}
