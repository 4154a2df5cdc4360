import { z } from 'zod'
import { ClaimId } from '#domain/claims/events.ts'
import { Claim } from '#domain/claims/record.ts'
import { ClaimDecision } from '#domain/claims/claims.ts'
import { Policy, renderPolicy } from '#domain/policies/record.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import { CalendarDate, CoverType, Pence, type OrganisationId } from '#domain/values.ts'
import type { BankCalendar } from '#domain/working-days.ts'
import { notFound } from '#domain/rejection.ts'
import { derivedId, newId } from '#infra/ids.ts'
import { route, type Route } from '#infra/http/route.ts'
import type { Writer } from '../writing/handle.ts'
import type { Catalogue } from '../catalogue/live-catalogue.ts'
import { keyInHeader, onceForKey } from '../idempotency-key.ts'
import { operatorRoute } from '../operator.ts'
import { makeAct, policyAddress, policyPath } from './act.ts'

type Deps = {
  readonly writer: Writer
  readonly baseUrl: string
  readonly catalogue: Pick<Catalogue, 'release'>
  readonly calendar: BankCalendar
  /** The date where an organisation is. */
  readonly dateAt: (organisation_id: OrganisationId, now: string) => string
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

/** A decision to pay or to decline needs a reason. */
const needNote: readonly ClaimDecision[] = ['decline', 'pay']

const DecisionRequest = z
  .object({
    decision: ClaimDecision,
    amount_pence: nullable(Pence.min(1)).describe(
      'approve, pay: by default what was claimed or approved; at most what is left of what is covered, all claims together; of a monthly benefit that of one month.',
    ),
    ends_policy: z.boolean().default(false).describe('pay: whether cover ends with the payment.'),
    note: nullable(text).describe('For the team: why. Required to decline and to pay.'),
  })
  .refine(({ decision, note }) => note !== null || !needNote.includes(decision), {
    path: ['note'],
    error: 'is required to decline and to pay',
  })
  .meta({
    anyOf: [
      { properties: { decision: { enum: ClaimDecision.options.filter((each) => !needNote.includes(each)) } } },
      { properties: { note: { type: 'string' } }, required: ['note'] },
    ],
  })

/** The operator's routes for policies that go on, and for claims on them. */
export const servicingRoutes = ({ writer, baseUrl, catalogue, calendar, dateAt }: Deps): Route[] => {
  const act = makeAct(writer)
  const collectionDays = async ({ organisation_id, product_id, product_release_id }: PolicyState) => {
    const release = await catalogue.release(organisation_id, product_id, product_release_id)
    if (!release) throw new Error(`Release ${product_release_id} of product ${product_id} does not exist.`)
    return release.checkout.collection_days
  }
  const shown = (state: PolicyState) => ({ status: 200 as const, body: { data: renderPolicy(state, baseUrl) } })
  const claimOf = (state: PolicyState, id: ClaimId): Claim => {
    const claim = state.claims.find(({ claim_id }) => claim_id === id)
    if (!claim) throw notFound('claim')
    return Claim.parse(claim)
  }
  const answers = { 200: z.object({ data: Policy }) }

  return [
    route(
      {
        ...operatorRoute,
        method: 'post',
        address: `${policyAddress}/amendment`,
        summary: 'Change covers, premiums or the day of collection from the next premium on',
        path: policyPath,
        body: z.object({
          components: Components.default([]),
          collection_day: nullable(z.int().min(1).max(28)).describe(
            'One of the collection days of the product. The next premium is collected on the first such day from the one told at the sale on, or the next working day; with less than 10 days until then it stays where it is, and the one after it is the first on the new day.',
          ),
          note: nullable(text).describe('For the team; shown to nobody else.'),
        }),
        answers,
        errors: ['conflict'],
      },
      async ({ path: given, body, ...facts }) => {
        const { now } = facts
        const amendment = async (state: PolicyState) =>
          ({ type: 'AmendPolicy', ...body, collection_days: await collectionDays(state), calendar, now }) as const
        return shown(await act(given, amendment, facts))
      },
    ),
    route(
      {
        ...operatorRoute,
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
    route(
      {
        ...operatorRoute,
        method: 'post',
        address: `${policyAddress}/claims`,
        summary: 'Open a claim on a policy',
        path: policyPath,
        headers: { 'Idempotency-Key': onceForKey('claim') },
        body: z.object({
          claim_type: CoverType,
          cover_index: nullable(z.int().min(0)),
          happened_on: CalendarDate,
          amount_pence: nullable(Pence.min(1)),
          note: nullable(text),
        }),
        answers: { 201: z.object({ data: Claim }) },
        errors: ['idempotency_key_conflict'],
      },
      async ({ path: given, body, ...facts }) => {
        const key = keyInHeader(facts)
        const claim_id = ClaimId.parse(key === undefined ? newId() : derivedId('claim', given.id, key))
        const today = dateAt(given.organisation_id, facts.now)
        const state = await act(given, { type: 'OpenClaim', claim_id, ...body, today }, facts)
        return { status: 201, body: { data: claimOf(state, claim_id) } }
      },
    ),
    route(
      {
        ...operatorRoute,
        method: 'post',
        address: `${policyAddress}/claims/:claim_id/decisions`,
        summary: 'Decide about a claim; the same decision again, with the same amount and note, changes nothing',
        path: policyPath.extend({ claim_id: ClaimId }),
        body: DecisionRequest,
        answers: { 200: z.object({ data: Claim }) },
        errors: ['conflict'],
      },
      async ({ path: { claim_id, ...given }, body, ...facts }) => {
        const today = dateAt(given.organisation_id, facts.now)
        const state = await act(given, { type: 'DecideClaim', claim_id, ...body, today }, facts)
        return { status: 200, body: { data: claimOf(state, claim_id) } }
      },
    ),
  ]
}
