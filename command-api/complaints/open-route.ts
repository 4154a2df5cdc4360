import { z } from 'zod'
import { timeZoneOf } from '#domain/access/record.ts'
import { ClaimId } from '#domain/claims/events.ts'
import { complaint } from '#domain/complaints/complaint.ts'
import { ComplaintCause, ComplaintId } from '#domain/complaints/events.ts'
import { Complaint } from '#domain/complaints/record.ts'
import { notFound } from '#domain/rejection.ts'
import { ApplicationId, CustomerId, OrganisationId, PolicyId, SentInstant } from '#domain/values.ts'
import type { BankCalendar } from '#domain/working-days.ts'
import { route, type Route } from '#infra/http/route.ts'
import { derivedId, newId } from '#infra/ids.ts'
import { keyInHeader, onceForKey } from '../idempotency-key.ts'
import { teamContext, teamRoute, type Organisations } from '../operator.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { productConcerned, type Concerned } from './concerned.ts'
import { complaintsAddress, nullable, text } from './inputs.ts'

type Deps = Concerned & {
  readonly writer: Writer
  readonly directory: Organisations
  readonly calendar: BankCalendar
}

const OpenRequest = z.object({
  contact_id: CustomerId.describe('The customer or contact who complains; a lead is named by it, too.'),
  policy_id: nullable(PolicyId).describe('A policy of this person.'),
  application_id: nullable(ApplicationId).describe('An application of this person. Leave it out with policy_id.'),
  claim_id: nullable(ClaimId).describe('A claim on this policy.'),
  cause: ComplaintCause,
  received_at: nullable(SentInstant).describe('When it was received, from which its clocks run. By default now.'),
  description: text,
})

/** Opens complaints, for the team. */
export const openComplaintRoute = ({ writer, directory, calendar, ...concerned }: Deps): Route => {
  const { handle, load } = commandHandler(writer, complaint)
  return route(
    {
      ...teamRoute('policies', 'claims'),
      method: 'post',
      address: complaintsAddress,
      summary: 'Open a complaint',
      path: z.object({ organisation_id: OrganisationId }),
      headers: { 'Idempotency-Key': onceForKey('complaint') },
      body: OpenRequest,
      answers: { 201: z.object({ data: Complaint }) },
      errors: ['idempotency_key_conflict'],
    },
    async ({ path: { organisation_id }, body, ...facts }) => {
      const key = keyInHeader(facts)
      const complaint_id = ComplaintId.parse(key === undefined ? newId() : derivedId('complaint', organisation_id, key))
      // A request that is sent again is answered alike, whatever its policy has become since.
      const opened = await load(complaint_id)
      const product_id = opened ? opened.product_id : await productConcerned(concerned, { organisation_id, ...body })
      const { now } = facts
      const time_zone = timeZoneOf(directory.organisations, organisation_id)
      const given = { complaint_id, organisation_id, ...body, product_id, time_zone, now, calendar }
      const context = teamContext(organisation_id, facts)
      const { state } = await handle(complaint_id, { type: 'OpenComplaint', ...given }, context)
      if (!state) throw notFound('complaint')
      return { status: 201, body: { data: Complaint.parse(state) } }
    },
  )
}
