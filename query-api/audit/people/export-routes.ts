import { z } from 'zod'
import type { Directory } from '#domain/access/record.ts'
import { notFound } from '#domain/rejection.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { auditRoute, FileBody, route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { pageParameters } from '../../page.ts'
import { ExportedEvent, ExportedRecord } from './exported.ts'
import { findHeld, type Person } from './find-held.ts'
import { pageOfExport } from './page.ts'
import { pdfOfExport } from './pdf.ts'

type Deps = {
  readonly pool: Database
  readonly eventLog: Pick<EventLog, 'read'>
  readonly organisations: Directory['organisations']
}

const path = z.object({
  organisation_id: OrganisationId,
  person_id: CustomerId.describe('`customer.id`, which is also `contact_id`.'),
})
const query = z.object(pageParameters)

const address = '/audit/v1/organisations/:organisation_id/people/:person_id/export'

const pageOf = async (deps: Deps, person: Person, asked: z.output<typeof query>) => {
  const held = await findHeld(deps, person)
  if (!held) throw notFound('person')
  const currency = deps.organisations.get(person.organisation_id)?.currency_code ?? 'GBP'
  return pageOfExport(deps.eventLog, { ...person, held, currency }, asked)
}

/** All that is held on a person, for whoever must tell them. */
export const exportRoutes = (deps: Deps): Route[] => [
  route(
    {
      ...auditRoute,
      method: 'get',
      address,
      summary:
        'Export all that is held on a person, record by record: each event with the person’s own values, and what stands in each record now',
      path,
      query,
      answers: {
        200: z.object({
          data: z.array(ExportedEvent).describe('Record by record, each from its first event to its last.'),
          records: z.array(ExportedRecord).describe('The records whose last event is on this page.'),
          next_cursor: z.string().nullable(),
        }),
      },
      errors: ['invalid_parameter'],
    },
    async ({ path: person, query: asked }) => ({ status: 200, body: await pageOf(deps, person, asked) }),
  ),
  route(
    {
      ...auditRoute,
      method: 'get',
      address: `${address}/pdf`,
      summary: 'Export the same as a PDF to read. X-Next-Cursor leads to the next part, where there is one',
      path,
      query,
      answers: { 200: FileBody },
      fileTypes: ['application/pdf'],
      errors: ['invalid_parameter'],
    },
    async ({ path: person, query: asked, now }) => {
      const page = await pageOf(deps, person, asked)
      const firm = deps.organisations.get(person.organisation_id)?.name ?? ''
      const headers = {
        'Content-Type': 'application/pdf',
        'Content-Disposition': `attachment; filename="${person.person_id}.pdf"`,
        ...(page.next_cursor !== null && { 'X-Next-Cursor': page.next_cursor }),
      }
      return { status: 200, body: await pdfOfExport(page, { ...person, firm, now }), headers, shows: page.data }
    },
  ),
]
