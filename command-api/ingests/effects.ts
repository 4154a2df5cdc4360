import type { CustomerEvent } from '#domain/customers/events.ts'
import { customerEvents } from '#domain/customers/events.ts'
import { fromStored, type EventOf, type EventShapes } from '#domain/event.ts'
import type { LeadEvent } from '#domain/leads/events.ts'
import { leadEvents } from '#domain/leads/events.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import type { Context } from '../writing/handle.ts'

/**
 * The context of what a step writes to a stream other than that of its ingest. Repeated, it is written once; other
 * ingests may have written to the same stream in between, so each is compared only with the earlier steps of its own.
 */
export const writingTo = (context: Context, stream: string): Context => {
  if (!context.cause) throw new Error('An ingest is processed by a reaction.')
  return { ...context, cause: { ...context.cause, target: stream, resumed: true } }
}

const pageSize = 200

/** Events that an earlier run of this step wrote to a stream, when it ended before it could say so. */
const writtenBefore = async <Shapes extends EventShapes>(
  log: Pick<EventLog, 'read'>,
  shapes: Shapes,
  stream: string,
  { cause }: Context,
): Promise<readonly EventOf<Shapes>[]> => {
  const found: EventOf<Shapes>[] = []
  let from: number | undefined
  for (;;) {
    const page = await log.read(stream, {
      direction: 'backwards',
      limit: pageSize,
      ...(from !== undefined && { from }),
    })
    for (const recorded of page) {
      // What was written before its cause was not written because of it.
      if (!cause || recorded.position < cause.position) return found
      if (recorded.metadata.causation_id === cause.event_id && recorded.metadata.cause?.reaction === cause.reaction)
        found.unshift(fromStored(shapes, recorded))
    }
    const earliest = page.at(-1)?.revision ?? 0
    if (page.length < pageSize || earliest === 0) return found
    from = earliest - 1
  }
}

/** Events that a step wrote about a person, now or in an earlier run. */
export const customerEffects = async (
  log: Pick<EventLog, 'read'>,
  stream: string,
  context: Context,
  now: readonly CustomerEvent[],
): Promise<readonly CustomerEvent[]> => (now.length > 0 ? now : writtenBefore(log, customerEvents, stream, context))

/** Events that a step wrote about a lead, now or in an earlier run. */
export const leadEffects = async (
  log: Pick<EventLog, 'read'>,
  stream: string,
  context: Context,
  now: readonly LeadEvent[],
): Promise<readonly LeadEvent[]> => (now.length > 0 ? now : writtenBefore(log, leadEvents, stream, context))

const known = (details: Readonly<Record<string, unknown>>): number =>
  Object.values(details).filter((value) => value !== null && value !== undefined).length

/** The counts shown of an ingest. */
export const countEffects = (ofCustomer: readonly CustomerEvent[], ofLead: readonly LeadEvent[]) => {
  const counts = { facts_written: 0, fields_proposed: 0, activities_written: 0 }
  for (const event of ofCustomer) {
    if (event.type === 'CustomerSentIn') counts.facts_written += known(event.details)
    if (event.type === 'CustomerDetailsFilled') counts.facts_written += known(event.changed)
    if (event.type === 'CustomerDetailsProposed') counts.fields_proposed += known(event.proposed)
  }
  for (const event of ofLead) {
    if (event.type === 'LeadFactsRecorded') counts.facts_written += event.keys.length
    if (event.type === 'LeadFactsProposed') counts.fields_proposed += known(event.proposed)
    if (event.type === 'LeadActivityRecorded') counts.activities_written += 1
  }
  return counts
}

/** The details of the person that have changed. */
export const changedDetails = (ofCustomer: readonly CustomerEvent[]): readonly string[] =>
  ofCustomer.flatMap((event) => (event.type === 'CustomerDetailsFilled' ? Object.keys(event.changed) : []))
