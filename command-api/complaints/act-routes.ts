import { z } from 'zod'
import { timeZoneOf } from '#domain/access/record.ts'
import { complaint, type ComplaintCommand } from '#domain/complaints/complaint.ts'
import {
  ComplaintDecision,
  ComplaintId,
  ComplaintNoteId,
  ComplaintResponse,
  RedressId,
} from '#domain/complaints/events.ts'
import { Complaint } from '#domain/complaints/record.ts'
import { notFound } from '#domain/rejection.ts'
import { CalendarDate, OrganisationId, Pence, SentInstant } from '#domain/values.ts'
import { route, type RequestFacts, type Route } from '#infra/http/route.ts'
import { derivedId, newId } from '#infra/ids.ts'
import { keyInHeader, onceForKey } from '../idempotency-key.ts'
import { teamContext, teamRoute, type Organisations } from '../operator.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { complaintsAddress, nullable, text } from './inputs.ts'

type Deps = {
  readonly writer: Writer
  readonly directory: Organisations
  readonly dateAt: (organisation_id: OrganisationId, now: string) => string
}

const path = z.object({ organisation_id: OrganisationId, id: ComplaintId })
type Path = z.output<typeof path>
const answers = { 200: z.object({ data: Complaint }) }
const team = teamRoute('policies', 'claims')

/** Does what the team asks of a complaint. Throws `not_found` when the organisation has no such complaint. */
const makeAct = (writer: Writer) => {
  const { handle, load } = commandHandler(writer, complaint)
  return async ({ organisation_id, id }: Path, command: ComplaintCommand, facts: RequestFacts) => {
    const before = await load(id)
    if (before?.organisation_id !== organisation_id) throw notFound('complaint')
    const { state } = await handle(id, command, teamContext(organisation_id, facts))
    if (!state) throw notFound('complaint')
    return { status: 200 as const, body: { data: Complaint.parse(state) } }
  }
}
type Act = ReturnType<typeof makeAct>

/** The acts of the team on a complaint that was opened. */
export const complaintActRoutes = (deps: Deps): readonly Route[] => {
  const act = makeAct(deps.writer)
  return [
    noteRoute(act),
    redressRoute(act),
    decisionRoute(act, deps),
    referralRoute(act, deps),
    closingRoute(act, deps),
  ]
}

/** The id of what is added: the same for the same key, so that it is added once. */
const idFor = (kind: string, { id }: Path, facts: RequestFacts): string => {
  const key = keyInHeader(facts)
  return key === undefined ? newId() : derivedId(kind, id, key)
}

const noteRoute = (act: Act): Route =>
  route(
    {
      ...team,
      method: 'post',
      address: `${complaintsAddress}/:id/notes`,
      summary: 'Add a note to a complaint',
      path,
      headers: { 'Idempotency-Key': onceForKey('note') },
      body: z.object({ note: text }),
      answers,
      errors: ['conflict', 'idempotency_key_conflict'],
    },
    async ({ path: given, body, ...facts }) => {
      const note_id = ComplaintNoteId.parse(idFor('complaint note', given, facts))
      return act(given, { type: 'NoteComplaint', note_id, ...body }, facts)
    },
  )

const redressRoute = (act: Act): Route =>
  route(
    {
      ...team,
      method: 'post',
      address: `${complaintsAddress}/:id/redress`,
      summary: 'Record how a complaint was made good; nothing is paid by this',
      path,
      headers: { 'Idempotency-Key': onceForKey('redress') },
      body: z
        .object({
          amount_pence: nullable(Pence.min(1)).describe('What the firm has paid or will pay.'),
          action: nullable(text).describe('What the firm has done. Required without an amount.'),
        })
        .meta({
          anyOf: [
            { properties: { amount_pence: { type: 'integer' } }, required: ['amount_pence'] },
            { properties: { action: { type: 'string' } }, required: ['action'] },
          ],
        }),
      answers,
      errors: ['conflict', 'idempotency_key_conflict'],
    },
    async ({ path: given, body, ...facts }) => {
      const redress_id = RedressId.parse(idFor('complaint redress', given, facts))
      return act(given, { type: 'RedressComplaint', redress_id, ...body }, facts)
    },
  )

const decisionRoute = (act: Act, { directory }: Deps): Route =>
  route(
    {
      ...team,
      method: 'post',
      address: `${complaintsAddress}/:id/decisions`,
      summary: 'Decide a complaint; the same decision again changes nothing',
      path,
      body: z.object({
        decision: ComplaintDecision,
        response: ComplaintResponse.default('final_response').describe(
          'summary_resolution: of a simple complaint, until the third business day after it was received.',
        ),
        reason: text,
        decided_at: nullable(SentInstant).describe('When the customer was told. By default now.'),
      }),
      answers,
      errors: ['conflict'],
    },
    async ({ path: given, body, ...facts }) => {
      const time_zone = timeZoneOf(directory.organisations, given.organisation_id)
      return act(given, { type: 'DecideComplaint', ...body, time_zone, now: facts.now }, facts)
    },
  )

const referralRoute = (act: Act, { directory, dateAt }: Deps): Route =>
  route(
    {
      ...team,
      method: 'post',
      address: `${complaintsAddress}/:id/referral`,
      summary: 'Record that a complaint is with the ombudsman, also one that was closed',
      path,
      body: z.object({
        referred_on: CalendarDate,
        reference: z.string().trim().min(1).max(100).describe('The ombudsman’s.'),
      }),
      answers,
      errors: ['conflict'],
    },
    async ({ path: given, body, ...facts }) => {
      const today = dateAt(given.organisation_id, facts.now)
      const time_zone = timeZoneOf(directory.organisations, given.organisation_id)
      return act(given, { type: 'ReferComplaint', ...body, time_zone, today }, facts)
    },
  )

const closingRoute = (act: Act, { dateAt }: Deps): Route =>
  route(
    {
      ...team,
      method: 'post',
      address: `${complaintsAddress}/:id/closing`,
      summary: 'Close a complaint that is decided, referred or withdrawn',
      path,
      body: z.object({ withdrawn: z.boolean().default(false).describe('The customer does not pursue it.') }),
      answers,
      errors: ['conflict'],
    },
    async ({ path: given, body, ...facts }) => {
      const today = dateAt(given.organisation_id, facts.now)
      return act(given, { type: 'CloseComplaint', ...body, today }, facts)
    },
  )
