import { createHash } from 'node:crypto'
import { z } from 'zod'
import { applicationStreamEvents, evolveRecord } from '#domain/applications/record.ts'
import type { Release } from '#domain/catalogue/events.ts'
import { SaleStep } from '#domain/checkout/events.ts'
import { ShownStep, shownSteps } from '#domain/checkout/record.ts'
import { Actor, type RecordedEvent } from '#domain/event.ts'
import { PolicyNumber } from '#domain/policies/events.ts'
import { quoteEvents } from '#domain/quotes/events.ts'
import { evolveQuote } from '#domain/quotes/record.ts'
import {
  ApiApplicationId,
  ApplicationId,
  CalendarDate,
  CustomerId,
  PolicyId,
  ProductId,
  QuoteId,
  ReleaseId,
} from '#domain/values.ts'
import type { Route } from '#infra/http/route.ts'
import { sql } from '#infra/postgres/postgres.ts'
import type { CsvRow } from '../../csv.ts'
import type { EventRow } from '../asked.ts'
import { listRoute, type ListDeps } from './list.ts'
import { foldOf, readStreams, toldBy, Unread, type Past } from './walk.ts'

const Step = ShownStep.extend({
  is_confirmed: z.boolean().describe('Whether the customer had confirmed just this before the purchase.'),
  confirmed_at: z.iso.datetime().nullable(),
  confirmed_by: Actor.nullable().describe('Who recorded that: mostly the API application of the firm’s pages.'),
}).meta({ id: 'SoldStep' })

const Sale = z
  .object({
    application_id: ApplicationId,
    quote_id: QuoteId,
    policy_id: PolicyId,
    policy_number: PolicyNumber,
    customer_id: CustomerId.nullable(),
    product_id: ProductId,
    product_release_id: ReleaseId,
    bought_on: CalendarDate,
    bought_at: z.iso.datetime(),
    bought_by: ApiApplicationId,
    test: z.boolean(),
    lacking: z.array(SaleStep).describe('The steps that the release asks for and that were not confirmed.'),
    steps: z.array(Step),
  })
  .meta({ id: 'AuditedSale' })
type Sale = z.input<typeof Sale>

type Releases = ReadonlyMap<string, Release>

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** A sale, with what was shown and confirmed before it: what the application's stream held until then. */
const saleOf = (
  events: readonly RecordedEvent[] = [],
  { event_id }: EventRow,
  releases: Releases,
): Sale | undefined => {
  const place = events.findIndex(({ id }) => id === event_id)
  const before = toldBy(applicationStreamEvents, events.slice(0, Math.max(0, place)))
  const [bought] = toldBy(quoteEvents, events.slice(place, place + 1))
  const application = foldOf(before, evolveRecord)
  if (!application || bought?.event.type !== 'QuoteBought') return undefined
  const { quote_id, policy_id, policy_number, bought_on, bought_by, test } = bought.event
  const ofQuote = toldBy(quoteEvents, events.slice(0, place)).filter(({ event }) => event.quote_id === quote_id)
  const quote = foldOf(ofQuote, evolveQuote)
  const release = releases.get(application.release_id)
  if (!quote) return undefined
  if (!release) throw new Unread('The product that was sold cannot be read.')
  const steps = soldSteps(shownSteps({ release, quote, confirmed: confirmedBy(before) }, sha256), before)
  return {
    application_id: application.id,
    quote_id,
    policy_id,
    policy_number,
    customer_id: application.customer?.id ?? null,
    product_id: application.product_id,
    product_release_id: release.id,
    bought_on,
    bought_at: bought.recorded.metadata.occurred_at,
    bought_by,
    test,
    lacking: steps.filter(({ is_confirmed }) => !is_confirmed).map(({ step }) => step),
    steps,
  }
}

type Told = ReturnType<typeof toldBy<typeof applicationStreamEvents>>

const confirmedBy = (told: Told) => told.flatMap(({ event }) => (event.type === 'StepsConfirmed' ? event.steps : []))

/** Each step with who confirmed just that, and when. */
const soldSteps = (steps: readonly ShownStep[], told: Told): Sale['steps'] =>
  steps.map((step) => {
    const confirmation = told.findLast(
      ({ event }) =>
        event.type === 'StepsConfirmed' &&
        event.steps.some(({ content_sha256 }) => content_sha256 === step.content_sha256),
    )?.recorded.metadata
    return { ...step, confirmed_at: confirmation?.occurred_at ?? null, confirmed_by: confirmation?.actor ?? null }
  })

/** Releases never change. Which ones these applications were started with is in their first events. */
const releasesOf = async (
  { pool, organisation_id }: Past,
  streams: ReadonlyMap<string, readonly RecordedEvent[]>,
): Promise<Releases> => {
  const ids = [...streams.values()].flatMap((events) =>
    toldBy(applicationStreamEvents, events.slice(0, 1)).flatMap(({ event }) =>
      event.type === 'ApplicationStarted' ? [event.release_id] : [],
    ),
  )
  const { rows } = await pool.query<{ document: Release }>(sql`
    select document from releases where organisation_id = ${organisation_id} and id = any(${[...new Set(ids)]}::uuid[])`)
  return new Map(rows.map(({ document }) => [document.id, document]))
}

const columns = [
  'application_id',
  'quote_id',
  'policy_id',
  'policy_number',
  'customer_id',
  'product_id',
  'product_release_id',
  'bought_on',
  'bought_at',
  'bought_by',
  'test',
  'step',
  'is_confirmed',
  'confirmed_at',
  'statement',
  'document_versions',
  'content_sha256',
  'statement_sha256',
]

/** A line for each step; one without, where the release asks for none. */
const linesOf = ({ steps, lacking: _lacking, ...sale }: Sale): readonly CsvRow[] =>
  steps.length === 0
    ? [sale]
    : steps.map(({ documents, confirmation: _confirmation, confirmed_by: _by, ...step }) => ({
        ...sale,
        ...step,
        document_versions: documents.map(({ version_id }) => version_id).join(' '),
      }))

/** The sales of a time, with what was shown and confirmed before each. */
export const salesRoute = (deps: ListDeps): Route =>
  listRoute(deps, {
    name: 'sales',
    summary: 'List sales with the steps that each owed and those that the customer confirmed before, the newest first',
    filters: {
      from: CalendarDate.optional().describe('Bought on this day or later, where the organisation is.'),
      until: CalendarDate.optional().describe('Bought on this day or before.'),
      lacking: z.enum(['true', 'false']).optional().describe('true: sales that lack a step. false: the others.'),
    },
    kinds: ['QuoteBought'],
    row: Sale,
    example: { lacking: 'true' },
    columns,
    linesOf,
    rowsOf: async (past, rows, { from = '', until = '9999-12-31', lacking }) => {
      const streams = await readStreams(
        past,
        rows.map(({ stream }) => stream),
      )
      const releases = await releasesOf(past, streams)
      return rows.map((row) => {
        const sale = saleOf(streams.get(row.stream), row, releases)
        if (!sale || sale.bought_on < from || sale.bought_on > until) return undefined
        return lacking !== undefined && (lacking === 'true') !== sale.lacking.length > 0 ? undefined : sale
      })
    },
  })
