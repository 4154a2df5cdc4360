import { z } from 'zod'
import type { Directory } from '#domain/access/record.ts'
import { HeldReason } from '#domain/outcomes/events.ts'
import { Outcome } from '#domain/outcomes/record.ts'
import type { OrganisationId } from '#domain/values.ts'
import { Problem } from '#infra/http/problem.ts'
import { route, type Caller, type RequestFacts, type Route, type ScopeRule } from '#infra/http/route.ts'
import type { Context } from '../writing/handle.ts'
import type { Catalogue } from '../catalogue/live-catalogue.ts'
import { keyInHeader } from '../idempotency-key.ts'
import { leadInputOf, longestEventId, namingLeadAs, OutcomeInput, readReference, readReport } from './inputs.ts'
import type { OutcomesDeps, Reporter } from './outcome-streams.ts'
import { makeOutcomes } from './outcomes.ts'

export type OutcomeRoutesDeps = OutcomesDeps & {
  readonly directory: Pick<Directory, 'organisations' | 'applications'>
  readonly catalogue: Pick<Catalogue, 'slugs'>
}

const scopes: ScopeRule = [
  ['write', 'outcomes'],
  ['write', 'crm'],
]
const access = { kind: 'application', scopes, serverOnly: true } as const

const Note = z.string().trim().max(500).nullish()

export const Held = z.object({
  id: z.uuid(),
  status: z.literal('held'),
  reason: HeldReason,
  event_id: z.string().nullable(),
})

/** Reads a caller's input by the organisation's outcome model. */
export const readInput = (
  { models, directory, catalogue }: Pick<OutcomeRoutesDeps, 'models' | 'directory' | 'catalogue'>,
  organisation_id: OrganisationId,
  input: OutcomeInput,
  now: string,
) => {
  const organisation = directory.organisations.get(organisation_id)
  if (!organisation) throw new Error(`Organisation ${organisation_id} is not known here.`)
  const { currency_code } = organisation
  const slugs = catalogue.slugs(organisation_id)
  const read = readReport(input, { model: models(organisation_id), slugs, currency_code, now })
  if (!('fields' in read)) return read
  const named = Object.keys(read.fields).join(', ')
  throw new Problem('validation_failed', `Correct ${named} and send the request again.`, read)
}

const OneOutcome = z.object({ data: Outcome })

/** Reporting outcomes and reversing them. */
export const outcomeRoutes = (deps: OutcomeRoutesDeps): Route[] => {
  const { directory } = deps
  const outcomes = makeOutcomes(deps)

  const reporterOf = ({ organisation_id, api_application_id, scopes: held }: Caller): Reporter => ({
    organisation_id,
    api_application_id,
    source: 'api',
    by: { type: 'api', name: directory.applications.get(api_application_id)?.name ?? null },
    sentBy: held.has('outcomes') ? undefined : api_application_id,
  })

  const contextOf = ({ organisation_id, api_application_id }: Caller, { request_id, now }: RequestFacts): Context => ({
    organisation_id,
    actor: { type: 'api', id: api_application_id },
    correlation_id: request_id,
    now,
  })

  return [
    route(
      {
        method: 'post',
        address: '/api/v1/crm/outcomes',
        tag: 'CRM',
        summary: 'Report an outcome of a lead; without a lead that fits it is held for a person to match',
        access,
        headers: { 'Idempotency-Key': 'The event_id, where none is sent in the body.' },
        body: OutcomeInput,
        answers: { 200: OneOutcome, 201: OneOutcome, 202: z.object({ data: Held }) },
        errors: ['not_found', 'event_id_conflict', 'not_repeatable'],
      },
      async ({ body, caller, ...facts }) => {
        const read = readInput(deps, caller.organisation_id, body, facts.now)
        const event_id = body.event_id ?? keyInHeader(facts, longestEventId) ?? null
        const lead = readReference(body)
        const reported = await namingLeadAs(leadInputOf(body), async () =>
          outcomes.report(reporterOf(caller), { ...read, lead, event_id }, contextOf(caller, facts)),
        )
        const headers = reported.isReplay ? { 'Idempotent-Replay': 'true' } : {}
        if ('held' in reported) {
          const { id, held: reason } = reported
          return { status: 202, headers, body: { data: { id, status: 'held', reason, event_id } } }
        }
        return { status: reported.isReplay ? 200 : 201, headers, body: { data: reported.recorded } }
      },
    ),
    route(
      {
        method: 'post',
        address: '/api/v1/crm/outcomes/reverse',
        tag: 'CRM',
        summary:
          'Reverse the outcome that was sent with an event id: your own or, with the scope outcomes, the only one that carries it',
        access,
        body: z.object({ event_id: z.string().trim().min(1).max(longestEventId), note: Note }),
        answers: { 200: OneOutcome },
        errors: ['already_reversed', 'event_id_ambiguous', 'not_found'],
      },
      async ({ body: { event_id, note = null }, caller, ...facts }) => ({
        status: 200,
        body: {
          data: await outcomes.reverseByEventId(reporterOf(caller), event_id, note, contextOf(caller, facts)),
        },
      }),
    ),
    route(
      {
        method: 'post',
        address: '/api/v1/crm/outcomes/:id/reverse',
        tag: 'CRM',
        summary: 'Reverse an outcome',
        access,
        path: z.object({ id: z.uuid().toLowerCase() }),
        body: z.object({ note: Note }),
        answers: { 200: OneOutcome },
        errors: ['already_reversed'],
      },
      async ({ path: { id }, body: { note = null }, caller, ...facts }) => ({
        status: 200,
        body: { data: await outcomes.reverse(reporterOf(caller), id, note, contextOf(caller, facts)) },
      }),
    ),
  ]
}
