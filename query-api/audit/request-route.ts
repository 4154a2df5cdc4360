import { z } from 'zod'
import { notFound } from '#domain/rejection.ts'
import { OrganisationId } from '#domain/values.ts'
import { auditRoute, route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { Delivery, readDeliveries } from '../delivery-log.ts'
import type { EventRow } from './asked.ts'
import { findCaused, findDeliveries, findTimers, mostNodes, type TimerRow } from './causes.ts'
import { AuditEvent, headOf } from './event.ts'

const Timer = z
  .object({
    kind: z.string().describe('What will happen: `quote_expiry`.'),
    id: z.string().describe('To which of the record’s parts, or to the record itself.'),
    record: AuditEvent.shape.record,
    due_at: z.iso.datetime().describe('In business time.'),
  })
  .meta({ id: 'WaitingTimer' })

const CausedEvent = z
  .object({
    event: AuditEvent.omit({ data: true, personal: true, personal_fields: true }),
    timers: z.array(Timer).describe('What it has set that is still to happen.'),
    deliveries: z.array(Delivery).describe('The webhooks that tell of it, with every attempt and what was answered.'),
    get leads_to(): z.ZodArray<typeof CausedEvent> {
      return z.array(CausedEvent)
    },
  })
  .meta({ id: 'CausedEvent' })
type CausedEvent = z.output<typeof CausedEvent>

const Caused = z.object({
  request_id: z.string(),
  events: z.array(CausedEvent).describe('The first of them. What follows from each stands below it.'),
  is_cut: z
    .boolean()
    .describe('True where there is more: the first 1,000 events are shown, and 1,000 webhooks and timers.'),
})

/** All that one request caused. */
export const auditRequestRoute = ({ pool }: { readonly pool: Database }): Route =>
  route(
    {
      ...auditRoute,
      method: 'get',
      address: '/audit/v1/organisations/:organisation_id/requests/:request_id',
      summary:
        'Show all that one request caused: its events, what followed from them, what is still to happen, and who was told',
      path: z.object({
        organisation_id: OrganisationId,
        request_id: z.string().min(1).max(128).describe('The X-Request-Id of the request.'),
      }),
      answers: { 200: z.object({ data: Caused }) },
    },
    async ({ path }) => {
      const found = await findCaused(pool, path)
      if (found.length === 0) throw notFound('request that caused anything here')
      const events = found.slice(0, mostNodes)
      const timers = await findTimers(pool, path.organisation_id, events)
      const keys = await findDeliveries(pool, path.organisation_id, events)
      const deliveries = await readDeliveries(pool, keys.slice(0, mostNodes))
      const is_cut = Math.max(found.length, timers.length, keys.length) > mostNodes
      return {
        status: 200,
        body: { data: { ...treeOf(path.request_id, events, timers.slice(0, mostNodes), deliveries), is_cut } },
      }
    },
  )

type Children = { readonly leads_to: CausedEvent[]; readonly timers: TimerRow[]; readonly deliveries: Delivery[] }

/** Below each event what follows from it, in the order of the log. */
const treeOf = (
  request_id: string,
  rows: readonly EventRow[],
  timers: readonly TimerRow[],
  deliveries: readonly Delivery[],
) => {
  const below = new Map<string, Children>(
    rows.map(({ event_id }) => [event_id, { leads_to: [], timers: [], deliveries: [] }]),
  )
  for (const timer of timers) below.get(timer.event_id)?.timers.push(timer)
  for (const delivery of deliveries) below.get(delivery.event_id)?.deliveries.push(delivery)
  const events: CausedEvent[] = []
  for (const row of rows) {
    const { leads_to = [], timers: set = [], deliveries: told = [] } = below.get(row.event_id) ?? {}
    const node = { event: headOf(row), timers: set.map(shownTimer), deliveries: told, leads_to }
    const cause = row.causation_id === null ? undefined : below.get(row.causation_id)
    ;(cause?.leads_to ?? events).push(node)
  }
  return { request_id, events }
}

const shownTimer = ({ kind, id, stream, due_at }: TimerRow): z.output<typeof Timer> => ({
  kind,
  id,
  record: { type: stream.slice(0, stream.indexOf('-')), id: stream.slice(stream.indexOf('-') + 1) },
  due_at: due_at.toISOString(),
})
