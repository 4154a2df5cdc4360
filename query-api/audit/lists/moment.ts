import { z } from 'zod'
import { realNow } from '#infra/clock.ts'
import { SentInstant } from '#domain/values.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { Problem } from '#infra/http/problem.ts'
import type { Moment } from '../as-of/moment.ts'

/** The moment that a list is asked for. Neither: now. */
export const momentParameters = {
  known_at: SentInstant.optional().describe('What was known at this moment: what was recorded by then. Default: now.'),
  position: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('In place of known_at: what the log knew up to this position, the `position` of an event.'),
}

export type AskedMoment = Pick<Moment, 'known_at' | 'position'>

const shownMoment = {
  known_at: z.string().nullable(),
  position: z.string().nullable().describe('Where known_at was not asked for: what the log held up to here is in it.'),
}

/** Of an answer: the moment as of which it is. */
export const ShownMoment = z.object(shownMoment)

export const momentShown = ({ known_at, position }: AskedMoment) => ({
  known_at: known_at ?? null,
  position: position ?? null,
})

/** The moment that is meant: where none was named, what the log holds by now. */
export const momentOf = async (
  eventLog: Pick<EventLog, 'head'>,
  { known_at, position }: AskedMoment,
): Promise<AskedMoment> => {
  if (known_at !== undefined && position !== undefined)
    throw new Problem('invalid_parameter', 'Give one of known_at and position, or neither.', {
      fields: { position: 'Give either this or known_at.' },
    })
  if (known_at !== undefined && Date.parse(known_at) > realNow())
    throw new Problem('invalid_parameter', 'Correct known_at and send the request again.', {
      fields: { known_at: 'must not be in the future' },
    })
  return known_at === undefined && position === undefined ? { position: await eventLog.head() } : { known_at, position }
}
