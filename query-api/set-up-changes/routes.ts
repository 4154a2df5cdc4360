import { z } from 'zod'
import { impersonalRoute, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { newestFirstRoute, type ListedRow } from '../newest-first.ts'

const Document = z.object({
  record_id: z.uuid(),
  operator: z.string().nullable().describe('The name of the operator’s key, where it is a program’s.'),
  user_id: z.uuid().nullable().describe('The user who did it.'),
  type: z.string().describe('What happened, as it is stored: `ReleasePublished`.'),
  record_type: z.string(),
  correlation_id: z.string().describe('The X-Request-Id of the request: what one request changed has the same.'),
  names: z
    .record(z.string(), z.union([z.string(), z.number()]))
    .describe('What the changed record is called: slug, key, version, number.'),
})

const SetUpChange = z
  .object({
    id: z.uuid(),
    ...Document.shape,
    changed_at: z.iso.datetime(),
  })
  .meta({ id: 'SetUpChange' })

/** Changes to an organisation's set-up and their authors, for the operator and for auditors. */
export const setUpChangeRoute = ({ db }: { readonly db: Database }): Route =>
  newestFirstRoute(db, {
    team: impersonalRoute('owner'),
    address: '/admin/v1/organisations/:organisation_id/set_up_changes',
    summary: 'List who changed what in the set-up of an organisation, and when, newest first',
    table: 'set_up_changes',
    time: 'changed_at',
    filters: {
      record_id: z.uuid(),
      operator: z.string().min(1).max(200).optional().describe('The name of a key of the operator.'),
      user_id: z.uuid(),
    },
    item: SetUpChange,
    show: ({ id, at, document }: ListedRow<z.infer<typeof Document>>) => ({
      id,
      ...document,
      changed_at: at.toISOString(),
    }),
  })
