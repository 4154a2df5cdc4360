import { z } from 'zod'
import { RetentionKind } from '#domain/retention/events.ts'
import { RecordErasure } from '#domain/retention/record.ts'
import { impersonalRoute, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { newestFirstRoute } from '../newest-first.ts'

/** The receipts of records that were erased because their time was over. */
export const recordErasureRoute = ({ pool }: { readonly pool: Database }): Route =>
  newestFirstRoute(pool, {
    team: impersonalRoute('owner', 'policies'),
    address: '/admin/v1/organisations/:organisation_id/record_erasures',
    summary: 'List the records that were erased because their time was over, the one asked for last first',
    table: 'record_erasures',
    time: 'requested_at',
    filters: { kind: RetentionKind, state: RecordErasure.shape.state, kept_with_person: z.enum(['true']) },
    item: RecordErasure,
  })
