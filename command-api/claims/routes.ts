import { z } from 'zod'
import { ClaimDecision, needNote } from '#domain/claims/claims.ts'
import { ClaimId } from '#domain/claims/events.ts'
import { Claim } from '#domain/claims/record.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import { notFound } from '#domain/rejection.ts'
import { CalendarDate, CoverType, Pence, type OrganisationId } from '#domain/values.ts'
import { route, type RequestFacts, type Route } from '#infra/http/route.ts'
import type { BankCalendar } from '#domain/working-days.ts'
import { derivedId, newId } from '#infra/ids.ts'
import { keyInHeader, onceForKey } from '../idempotency-key.ts'
import { teamRoute } from '../operator.ts'
import { makeAct, makePreview, policyAddress, policyPath, previewAnswer, previewing } from '../policies/act.ts'
import type { CommandSide } from '../command-side.ts'
import type { Writer } from '../writing/handle.ts'

type Deps = {
  readonly writer: Writer
  readonly calendar: BankCalendar
  readonly isErased: CommandSide['isErased']
  /** The date where an organisation is. */
  readonly dateAt: (organisation_id: OrganisationId, now: string) => string
}

const text = z.string().trim().min(1).max(500)
const nullable = <Schema extends z.ZodType>(schema: Schema) => schema.nullable().default(null)

const DecisionRequest = z
  .object({
    decision: ClaimDecision,
    amount_pence: nullable(Pence.min(1)).describe(
      'approve, pay: by default what was claimed or approved; at most what is left of what is covered, all claims together; of a monthly benefit that of one month.',
    ),
    ends_policy: z.boolean().default(false).describe('pay: whether cover ends with the payment.'),
    note: nullable(text).describe('For the team: why. Required to decline and to pay.'),
  })
  .meta({
    anyOf: [
      { properties: { decision: { enum: ClaimDecision.options.filter((each) => !needNote.includes(each)) } } },
      { properties: { note: { type: 'string' } }, required: ['note'] },
    ],
  })

const claimPath = policyPath.extend({ claim_id: ClaimId })

const claimOf = (state: PolicyState, id: ClaimId): Claim => {
  const claim = state.claims.find(({ claim_id }) => claim_id === id)
  if (!claim) throw notFound('claim')
  return Claim.parse(claim)
}

/** Claims on policies: opened, and decided by the team. */
export const claimRoutes = ({ writer, calendar, isErased, dateAt }: Deps): Route[] => {
  const act = makeAct(writer)
  const preview = makePreview({ writer, calendar })
  const decision = async (
    { organisation_id, claim_id }: z.output<typeof claimPath>,
    body: z.output<typeof DecisionRequest>,
    { now }: RequestFacts,
  ) => {
    if (await isErased(organisation_id, { type: 'claim', id: claim_id }, now)) throw notFound('claim')
    return { type: 'DecideClaim', claim_id, ...body, today: dateAt(organisation_id, now) } as const
  }

  return [
    route(
      {
        ...teamRoute('claims'),
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
        ...teamRoute('claims'),
        method: 'post',
        address: `${policyAddress}/claims/:claim_id/decisions`,
        summary: 'Decide about a claim; the same decision again, with the same amount and note, changes nothing',
        path: claimPath,
        body: DecisionRequest,
        answers: { 200: z.object({ data: Claim }) },
        errors: ['conflict'],
      },
      async ({ path: given, body, ...facts }) => {
        const state = await act(given, await decision(given, body, facts), facts)
        return { status: 200, body: { data: claimOf(state, given.claim_id) } }
      },
    ),
    route(
      {
        ...previewing(teamRoute('claims')),
        method: 'post',
        address: `${policyAddress}/claims/:claim_id/decisions/preview`,
        summary: 'Show what a decision about a claim would pay, write off and end; nothing changes',
        path: claimPath,
        body: DecisionRequest,
        answers: previewAnswer,
        errors: ['conflict'],
      },
      async ({ path: given, body, ...facts }) => preview(given, await decision(given, body, facts), facts),
    ),
  ]
}
