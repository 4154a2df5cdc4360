import { z } from 'zod'
import type { Recorded } from '../decider.ts'
import { CustomerId, OrganisationId } from '../values.ts'
import {
  RetainedRecord,
  RetentionKind,
  type RecordErasureEvent,
  type RetentionPeriod,
  type RetentionPeriods,
} from './events.ts'

/** A period that another one has replaced; null: the kind was kept. Until then it binds as well. */
type FormerPeriod = { readonly kind: RetentionKind; readonly period: RetentionPeriod | null; readonly until: string }

/** The period that is set of each kind, and those before that still bind. */
export type Periods = { readonly periods: RetentionPeriods; readonly former: readonly FormerPeriod[] }

/** For how long an organisation keeps its records, by their kind. */
export type RetentionRules = Periods & { readonly organisation_id: OrganisationId }

/** For so long whoever mistyped a period can take it back before anything goes by it. */
export const hoursUntilBinding = 24

/** All periods after they were set. */
export const evolvePeriods = (
  before: Periods | undefined,
  { periods }: { readonly periods: RetentionPeriods },
  { occurred_at }: Recorded,
): Periods => {
  const at = new Date(occurred_at)
  const until = new Date(at.getTime() + hoursUntilBinding * 3_600_000).toISOString()
  const replaced = RetentionKind.options
    .filter((kind) => before?.periods[kind] !== periods[kind])
    .map((kind) => ({ kind, period: before?.periods[kind] ?? null, until }))
  const isReplaced = ({ kind, period }: FormerPeriod) =>
    replaced.some((each) => each.kind === kind && each.period === period)
  return {
    periods,
    former: [...stillBinding(before?.former ?? [], at).filter((each) => !isReplaced(each)), ...replaced],
  }
}

const stillBinding = (former: readonly FormerPeriod[], now: Date): readonly FormerPeriod[] =>
  former.filter(({ until }) => Date.parse(until) > now.getTime())

/** All periods of each kind that a record must be over before it goes; a kind that is not among them is kept. */
export type BindingPeriods = Readonly<Partial<Record<RetentionKind, readonly RetentionPeriod[]>>>

/** The periods that bind at a moment: which of two is longer never needs to be known. */
export const bindingPeriods = ({ periods, former }: Periods, now: Date): BindingPeriods => {
  const still = stillBinding(former, now)
  const binding: Partial<Record<RetentionKind, readonly RetentionPeriod[]>> = {}
  for (const kind of RetentionKind.options) {
    const all = [periods[kind] ?? null, ...still.filter((each) => each.kind === kind).map(({ period }) => period)]
    const set = all.filter((period) => period !== null)
    if (set.length === all.length) binding[kind] = set
  }
  return binding
}

/**
 * The periods of which a person's own details are kept for the longest: also of kinds that have none any more, until that binds.
 * None: no kind of record goes.
 */
export const periodsOfPeople = (rules: Periods, now: Date): readonly RetentionPeriod[] => {
  const { integration_log: _ofNobody, ...binding } = bindingPeriods(rules, now)
  if (Object.keys(binding).length === 0) return []
  const { integration_log: _neither, ...periods } = rules.periods
  const former = stillBinding(rules.former, now).filter(({ kind }) => kind !== 'integration_log')
  return [...Object.values(periods), ...former.map(({ period }) => period)].filter((period) => period !== null)
}

/** When the period that is set of a kind binds by itself, of those of which one before still does. */
export const bindsAt = ({ periods, former }: Periods, now: Date): Partial<Record<RetentionKind, string>> => {
  const at: Partial<Record<RetentionKind, string>> = {}
  for (const { kind, until } of stillBinding(former, now)) {
    if (periods[kind] !== undefined && until > (at[kind] ?? '')) at[kind] = until
  }
  return at
}

/** The receipt of a record that was erased by itself, because its period was over. */
export const RecordErasure = z
  .object({
    organisation_id: OrganisationId,
    kind: RetentionKind,
    record: RetainedRecord,
    contact_id: CustomerId.nullable().describe('The person whom the record is about; null: nobody is known.'),
    second_contact_id: CustomerId.nullable().describe('The second person of joint cover.'),
    state: z.enum(['requested', 'given_up', 'erased']),
    period: z.string().nullable().describe('The period that was over; null: erased again after a restore.'),
    ended_at: z.iso.datetime().nullable().describe('When the record came to its end, from which the period counts.'),
    requested_at: z.iso.datetime(),
    erased_at: z.iso.datetime().nullable().describe('When its keys were destroyed.'),
    because: z.string().nullable().describe('Why it was given up.'),
    streams: z.int().describe('How many streams of events told of it.'),
    kept_with_person: z
      .boolean()
      .describe(
        'A version before this one sealed a part of it under the key of the person: that part can be read until the person is erased, who is as soon as nothing of theirs is kept.',
      ),
  })
  .meta({ id: 'RecordErasure' })
export type RecordErasure = z.infer<typeof RecordErasure>

/** The erasure of a record after an event, for the command side and the read model alike. */
export const evolveRecordErasure = (
  before: RecordErasure | undefined,
  event: RecordErasureEvent,
  { occurred_at }: Recorded,
): RecordErasure | undefined => {
  switch (event.type) {
    case 'RecordErasureRequested': {
      const { organisation_id, kind, record, contact_id, second_contact_id, period, ended_at } = event
      const given = { organisation_id, kind, record, contact_id, second_contact_id, period, ended_at }
      const asked = { state: 'requested', requested_at: occurred_at, erased_at: null, because: null } as const
      return { ...given, ...asked, streams: 0, kept_with_person: false }
    }
    case 'RecordErasureGivenUp':
      return before && { ...before, state: 'given_up', because: event.because }
    case 'RecordErased': {
      const { streams, kept_with_person } = event
      return before && { ...before, state: 'erased', erased_at: occurred_at, streams: streams.length, kept_with_person }
    }
  }
}
