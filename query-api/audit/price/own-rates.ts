import { hash } from 'node:crypto'
import { z } from 'zod'
import { applicationAfter, priceAgain, type PriceAgain, type QuoteIssued } from '#domain/applications/price-again.ts'
import type { Directory } from '#domain/access/record.ts'
import type { Release } from '#domain/catalogue/events.ts'
import { money } from '#domain/money.ts'
import { quoteEvents } from '#domain/quotes/events.ts'
import { Loading, PriceStep, QuoteComponent, RateTableUsed } from '#domain/rating/events.ts'
import { ApplicationId, CalendarDate, CoverType, Pence, ProductId, QuoteId, ReleaseId } from '#domain/values.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import type { Personal } from '../event.ts'
import { userNames } from '../../user-names.ts'
import { named, Who, whoOf } from '../who.ts'
import { ShownGone, shownGone, type ApplicationEvents, type Gone, type Told } from './quote-events.ts'
import { rateTablesOf } from './rate-tables.ts'

const WorkedStep = PriceStep.extend({
  before_pence: z.string().describe('The price of the component before this step, as a decimal.'),
  after_pence: z.string().describe('And after it.'),
  used: z
    .object({
      table: z.string().describe('The key of the rate table.'),
      version: z.int(),
      cell: z.string().describe('The cell, as the table names it: `34|25|n`.'),
      at: z.record(z.string(), z.string()).describe('What led to it: `{ "age": "34", "term": "25", "smoker": "n" }`.'),
      rate_e4: z.int().describe('Ten-thousandths of a penny a month for each £1,000.'),
      benefit_pence: z.int().describe('What the rate is for: the sum assured, or a year of a monthly benefit.'),
    })
    .nullable()
    .describe('Of a step `rate`: the cell that it was taken from.'),
}).meta({ id: 'WorkedPriceStep' })

const Amounts = z.object({
  premium_pence: Pence.describe('A month: all components and the policy fee.'),
  policy_fee_pence: Pence,
  annual_premium_pence: Pence,
  total_premium_pence: Pence.nullable().describe('Over the term, where it is known.'),
})

const Inputs = z.object({
  start_date: CalendarDate,
  journey_loading: z.string(),
  cover_amount_pence: Pence.nullable(),
  term_years: z.int().nullable(),
  lives: z.array(z.object({ dob: z.string().nullable(), answers: z.record(z.string(), z.unknown()) })),
  components: z.array(z.record(z.string(), z.unknown())).describe('The choices for single covers.'),
  accepted_terms: z
    .object({ loadings: z.array(Loading.extend({ cover_types: z.array(CoverType).nullable(), life: z.int() })) })
    .optional()
    .describe('The terms on which the team accepted these answers.'),
})

/** A quote priced by the firm’s own rates, as it was stored and as it is worked out again. */
export const OwnPrice = z
  .object({
    origin: z.literal('own_rates'),
    quote_id: QuoteId,
    application_id: ApplicationId,
    product_id: ProductId,
    release: z.object({ id: ReleaseId, number: z.int().nullable().describe('null: there is no such release.') }),
    issued_at: z.iso.datetime(),
    result: z
      .enum(['same', 'differs', 'no_price', 'erased'])
      .describe(
        'same: worked out again, all that the quote says is as it was stored. differs: `differences` names what is not. no_price: no price follows from what is stored, and `lacking` names what is missing. erased: what it was made from went with a person, and `gone` names it.',
      ),
    said: z.string().describe('The result in words.'),
    currency_code: z.string(),
    stored: Amounts.describe('As the quote was stored.'),
    again: Amounts.nullable().describe('As it is worked out again.'),
    rate_tables: z.array(RateTableUsed).describe('The tables that the quote names.'),
    inputs: Inputs.nullable().describe('What was asked for and answered. null: masked, or gone.'),
    components: z
      .array(
        QuoteComponent.pick({
          cover_id: true,
          cover_index: true,
          cover_type: true,
          title: true,
          premium_pence: true,
        }).extend({ steps: z.array(WorkedStep) }),
      )
      .nullable()
      .describe('Each cover with its steps, which add up to its premium. null: masked, or gone.'),
    accepted: z
      .object({ event_id: z.uuid(), at: z.iso.datetime(), who: Who })
      .nullable()
      .describe(
        'Who of the team accepted these answers, on the terms in `inputs`. null: they were priced by the rules alone.',
      ),
    differences: z.array(
      z.object({
        path: z.string().describe('Where in the quote: `components[0].premium_pence`.'),
        stored: z.unknown(),
        again: z.unknown(),
        masked: z.boolean().describe('True where the values may identify a person: they are not shown.'),
      }),
    ),
    lacking: z.array(z.string()).describe('What the price cannot be worked out without, and is not there.'),
    gone: z.array(ShownGone).describe('What events said of a person who was erased.'),
  })
  .meta({ id: 'OwnQuotePrice' })
type OwnPrice = z.input<typeof OwnPrice>

export type Deps = {
  readonly db: Database
  readonly eventLog: Pick<EventLog, 'read'>
  readonly applications: Directory['applications']
}

type Asked = { readonly organisation_id: string; readonly quote_id: QuoteId; readonly personal: Personal }

/** As the command side does: it is kept with each quote, so it can never change. */
const digest = (text: string): string => hash('sha256', text)

const releaseOf = async ({ db }: Deps, organisation_id: string, id: string): Promise<Release | undefined> => {
  const { rows } = await db.query<{ document: Release }>(sql`
    select document from releases where organisation_id = ${organisation_id} and id = ${id}`)
  return rows[0]?.document
}

/** The price of a quote, worked out again from the events before it. Undefined: there is no such quote among them. */
export const ownPriceOf = async (
  deps: Deps,
  { told, gone }: ApplicationEvents,
  { organisation_id, quote_id, personal }: Asked,
): Promise<OwnPrice | undefined> => {
  const place = told.findIndex(({ event }) => event.type === 'QuoteIssued' && event.quote_id === quote_id)
  const found = told[place]
  if (found?.event.type !== 'QuoteIssued') return undefined
  const goneBefore = gone.filter(({ recorded }) => recorded.revision <= found.recorded.revision)
  const state = applicationAfter(told.slice(0, place))
  const release = state && (await releaseOf(deps, organisation_id, state.record.release_id))
  const rate_tables = release && (await rateTablesOf(deps.eventLog, release))
  const worked = release && rate_tables && priceAgain({ issued: found.event, state, release, rate_tables, digest })
  const accepted = worked?.inputs?.accepted_terms ? await acceptedIn(deps, told.slice(0, place)) : null
  const { event: issued, recorded } = found
  return shownPrice({ issued, recorded, gone: goneBefore, release, worked, accepted }, personal)
}

/** The last acceptance by the team: an earlier one does not hold any more. */
const acceptedIn = async ({ eventLog, applications }: Deps, before: readonly Told[]): Promise<OwnPrice['accepted']> => {
  const accepted = before.findLast(({ event }) => event.type === 'ApplicationAccepted')?.recorded
  if (!accepted) return null
  const { id, metadata } = accepted
  const who = await named(whoOf(applications, metadata.actor, metadata), userNames(eventLog))
  return { event_id: id, at: metadata.occurred_at, who }
}

type Found = {
  readonly issued: QuoteIssued
  readonly recorded: Told['recorded']
  readonly gone: readonly Gone[]
  readonly release: Release | undefined
  readonly worked: PriceAgain | undefined
  readonly accepted: OwnPrice['accepted']
}

const amountsOf = ({ premium_pence, policy_fee_pence, annual_premium_pence, total_premium_pence }: QuoteIssued) => ({
  premium_pence,
  policy_fee_pence,
  annual_premium_pence,
  total_premium_pence,
})

/** An erasure does not count where the price follows from the rest. */
const resultOf = ({ recorded, gone, worked }: Found): OwnPrice['result'] => {
  const isSame = worked?.again !== undefined && worked.differences.length === 0
  if (recorded.erased ?? (gone.length > 0 && !isSame)) return 'erased'
  if (isSame) return 'same'
  return worked?.again ? 'differs' : 'no_price'
}

const shownPrice = (found: Found, personal: Personal): OwnPrice => {
  const { issued, recorded, release, worked } = found
  const result = resultOf(found)
  const isWhole = result !== 'erased'
  const isShown = isWhole && personal === 'opened'
  const { quote_id, application_id, product_id, product_release_id, currency_code, rate_tables } = issued
  const differences = isWhole ? shownDifferences(worked?.differences ?? [], personal) : []
  const lacking = isWhole ? (worked?.lacking ?? [`releases.${product_release_id}`]) : []
  return {
    origin: 'own_rates',
    quote_id,
    application_id,
    product_id,
    release: { id: release?.id ?? product_release_id, number: release?.number ?? null },
    issued_at: recorded.metadata.occurred_at,
    result,
    said: saidOf(result, { issued, again: worked?.again, differences: differences.length, without: worked?.without }),
    currency_code,
    stored: amountsOf(issued),
    again: isWhole && worked?.again ? amountsOf(worked.again) : null,
    rate_tables,
    inputs: isShown ? shownInputs(worked?.inputs) : null,
    components: isShown && worked ? worked.components.map((each) => ({ ...each, steps: [...each.steps] })) : null,
    accepted: isWhole ? found.accepted : null,
    differences,
    lacking: [...lacking],
    gone: found.gone.map(shownGone),
  }
}

const shownInputs = (inputs: PriceAgain['inputs'] | undefined): OwnPrice['inputs'] => {
  if (!inputs) return null
  const { lives, components, accepted_terms, ...rest } = inputs
  const loadings = accepted_terms?.loadings.map(({ cover_types, ...loading }) => ({
    ...loading,
    cover_types: cover_types && [...cover_types],
  }))
  return { ...rest, lives: [...lives], components: [...components], ...(loadings && { accepted_terms: { loadings } }) }
}

const personalFields: readonly string[] = quoteEvents.QuoteIssued.personal

/** Of what may identify a person, only the field is named. */
const shownDifferences = (changes: PriceAgain['differences'], personal: Personal): OwnPrice['differences'] => {
  const fieldOf = (path: string) => /^[^.[]*/.exec(path)?.[0] ?? path
  const isMasked = (path: string) => personal === 'masked' && personalFields.includes(fieldOf(path))
  const masked = new Set(changes.filter(({ path }) => isMasked(path)).map(({ path }) => fieldOf(path)))
  return [
    ...changes
      .filter(({ path }) => !isMasked(path))
      .map(({ path, before = null, after = null }) => ({ path, stored: before, again: after, masked: false })),
    ...[...masked].map((path) => ({ path, stored: null, again: null, masked: true })),
  ]
}

type Compared = {
  readonly issued: QuoteIssued
  readonly again: QuoteIssued | undefined
  readonly differences: number
  readonly without: PriceAgain['without']
}

const reasons: Readonly<Record<NonNullable<PriceAgain['without']>, string>> = {
  no_journey: 'the release does not have the journey of the application',
  details_missing: 'details or answers are missing',
  cover_missing: 'the cover was not chosen',
  not_accepted: 'these answers are not accepted by the rules of the release',
  no_quotable_cover: 'no cover is within its bounds',
  rate_unavailable: 'a rate is missing',
}

const saidOf = (result: OwnPrice['result'], { issued, again, differences, without }: Compared): string => {
  const stored = money(issued.premium_pence, issued.currency_code)
  switch (result) {
    case 'same':
      return `Worked out again, the quote is the same in all that it says: ${stored} a month.`
    case 'differs': {
      const now = money(again?.premium_pence ?? 0, issued.currency_code)
      const values = `${differences} ${differences === 1 ? 'value is' : 'values are'} not as the quote was stored`
      return `Worked out again, ${values}. It was stored with ${stored} a month, and comes to ${now}.`
    }
    case 'no_price':
      return `The quote was stored with ${stored} a month. Worked out again, there is no price: ${without ? reasons[without] : 'its release is not there'}.`
    case 'erased':
      return `The quote was stored with ${stored} a month. What that was made from went with a person who was erased.`
  }
}
