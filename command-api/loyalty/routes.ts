import { z } from 'zod'
import { findEntry } from '#domain/loyalty/entry-set.ts'
import { MemberReference, TierKey } from '#domain/loyalty/events.ts'
import type { NewEntry, UpdateMembership } from '#domain/loyalty/membership.ts'
import { EntryResult, renderMembership, ShownMembership } from '#domain/loyalty/record.ts'
import { timeZoneOf, type Organisation } from '#domain/access/record.ts'
import { SentInstant } from '#domain/values.ts'
import { Problem } from '#infra/http/problem.ts'
import { route, write, type Caller, type RequestFacts, type Route } from '#infra/http/route.ts'
import { unusableTexts } from '#infra/http/unusable-texts.ts'
import { dateIn } from '#domain/time-zone.ts'
import type { Context } from '../writing/handle.ts'
import { entryIdOf } from './ids.ts'
import type { Memberships } from './memberships.ts'

type Deps = {
  readonly memberships: Memberships
  readonly organisations: ReadonlyMap<string, Pick<Organisation, 'time_zone'>>
}

const access = { kind: 'application', scopes: write, serverOnly: true } as const
const address = '/api/v1/programme_memberships/:external_ref' as const
const tag = 'Loyalty'

const Path = z.object({
  external_ref: MemberReference.describe(
    'The partner’s reference for the member or, before it is confirmed, the membership’s id.',
  ),
})

/** Clients take dots out of addresses before they ask. */
const Reference = MemberReference.refine((reference) => !/^\.{1,2}$/.test(reference), {
  error: 'must be more than dots: it is the member’s address',
})

const Update = z
  .object({
    status: z.enum(['active', 'suspended', 'cancelled']).optional(),
    external_member_ref: Reference.optional().describe('Your reference for the member: fixed once confirmed.'),
  })
  .refine(({ status, external_member_ref }) => status !== undefined || external_member_ref !== undefined, {
    error: 'must have status, external_member_ref or both: there is nothing to change',
  })
  .meta({ anyOf: ['status', 'external_member_ref'].map((name) => ({ required: [name] })) })

/** It is kept and shown as it was sent. */
const Payload = z.record(z.string(), z.unknown()).superRefine((payload, context) => {
  for (const [path, message] of unusableTexts(payload)) context.addIssue({ code: 'custom', path: [...path], message })
})

const shared = {
  idempotency_key: z.string().min(1).max(200).describe('Unique for each event of the membership.'),
  occurred_at: SentInstant.optional().describe('When it happened; now when left out.'),
  payload: Payload.optional(),
}
const points = z.int().min(-1_000_000_000).max(1_000_000_000)

const SentEntry = z.discriminatedUnion('entry_type', [
  z.object({ ...shared, entry_type: z.literal('points_awarded'), points: points.min(1) }),
  z.object({ ...shared, entry_type: z.literal('points_adjusted'), points: points.describe('May be negative.') }),
  z.object({
    ...shared,
    entry_type: z.literal('tier_asserted'),
    tier_key: TierKey.describe('A tier that is set up on the programme.'),
  }),
])
type SentEntry = z.output<typeof SentEntry>

const Batch = z.object({ events: z.array(SentEntry).min(1).max(1_000) })

const OneMembership = z.object({ data: ShownMembership })
const Recorded = z.object({ data: z.object({ events: z.array(EntryResult), membership: ShownMembership }) })

const contextOf = ({ organisation_id, api_application_id }: Caller, { request_id, now }: RequestFacts): Context => ({
  organisation_id,
  actor: { type: 'api', id: api_application_id },
  correlation_id: request_id,
  now,
})

/** A loyalty partner's routes for its members. */
export const membershipRoutes = ({ memberships, organisations }: Deps): Route[] => {
  const update = async (
    external_ref: string,
    { status, external_member_ref }: z.output<typeof Update>,
    caller: Caller,
    facts: RequestFacts,
  ) => {
    const { organisation_id } = caller
    const { membership, programme } = await memberships.find(organisation_id, external_ref)
    const { id: membership_id } = membership
    const context = contextOf(caller, facts)
    const time_zone = timeZoneOf(organisations, organisation_id)
    const command: UpdateMembership = {
      type: 'UpdateMembership',
      status,
      external_member_ref,
      cycle: programme.cycle,
      today: dateIn(time_zone, facts.now),
      time_zone,
    }
    // What is refused anyway claims nothing.
    const coming = await memberships.preview(membership_id, command)
    const confirmed = coming.find(({ type }) => type === 'MembershipConfirmed' || type === 'MemberReferenceRecorded')
    if (confirmed && 'external_member_ref' in confirmed) {
      const isFinal = confirmed.type === 'MembershipConfirmed'
      await memberships.claimReference(membership, confirmed.external_member_ref, context, isFinal)
    }
    const { state } = await memberships.handle(membership_id, command, context)
    return renderMembership(state.membership ?? membership, programme)
  }

  /** Checks that the member exists: otherwise what was sent does not matter. */
  const refuseUnknown = async ({ path, caller }: { readonly path: z.output<typeof Path>; readonly caller: Caller }) => {
    await memberships.find(caller.organisation_id, path.external_ref)
  }

  const updateBy = (method: 'patch' | 'put', summary: string) =>
    route(
      {
        method,
        address,
        tag,
        summary,
        access,
        path: Path,
        body: Update,
        errors: ['membership_cancelled', 'invalid_transition', 'external_member_ref_mismatch'],
        answers: { 200: OneMembership },
      },
      async ({ path: { external_ref }, body, caller, ...facts }) => ({
        status: 200,
        body: { data: await update(external_ref, body, caller, facts) },
      }),
      refuseUnknown,
    )

  return [
    updateBy('patch', 'Confirm a membership, or change its status: only the fields sent change'),
    updateBy('put', 'The same as PATCH: a partial update, not a replacement'),
    route(
      {
        method: 'post',
        address: `${address}/events`,
        tag,
        summary: 'Record points and tiers of a member: the whole batch or none of it',
        access,
        path: Path,
        body: Batch,
        asGiven: ['events.payload'],
        errors: ['membership_pending', 'membership_cancelled'],
        answers: { 200: Recorded },
      },
      async ({ path: { external_ref }, body: { events }, caller, ...facts }) => {
        const { organisation_id } = caller
        const { membership, programme } = await memberships.find(organisation_id, external_ref)
        const time_zone = timeZoneOf(organisations, organisation_id)
        refuseFuture(events, facts.now)
        const entries = events.map((sent): NewEntry => {
          const { idempotency_key, occurred_at = facts.now, payload = null, ...rest } = sent
          const entry_id = entryIdOf(organisation_id, membership.id, idempotency_key)
          return { ...rest, entry_id, idempotency_key, occurred_at, day: dateIn(time_zone, occurred_at), payload }
        })
        const handled = await memberships.record(
          membership.id,
          { type: 'RecordEntries', entries, programme, today: dateIn(time_zone, facts.now), time_zone },
          contextOf(caller, facts),
        )
        const fresh = new Set(handled.events.flatMap((event) => ('entry_id' in event ? [event.entry_id] : [])))
        const results = entries.map(({ entry_id, entry_type }) => {
          const earlier = handled.known.entries.find(({ id }) => id === entry_id)
          // A repeat is answered with what was recorded, whatever it says now.
          const recorded = earlier ?? findEntry(handled.state.entries, entry_id)
          const { points = null, tier_key = null } = recorded ?? {}
          // Of one key that stands twice in a batch, the second is a repeat.
          const replayed = !fresh.delete(entry_id)
          return { id: entry_id, entry_type: recorded?.entry_type ?? entry_type, points, tier_key, replayed }
        })
        const shown = renderMembership(handled.state.membership ?? membership, programme)
        return { status: 200, body: { data: { events: results, membership: shown } } }
      },
      refuseUnknown,
    ),
  ]
}

const aheadMs = 24 * 3_600_000

const refuseFuture = (events: readonly SentEntry[], now: string): void => {
  const fields = events.flatMap(({ occurred_at }, index) =>
    occurred_at !== undefined && Date.parse(occurred_at) > Date.parse(now) + aheadMs
      ? [[`events[${index}].occurred_at`, 'is more than 24 hours ahead'] as const]
      : [],
  )
  if (fields.length > 0)
    throw new Problem('validation_failed', 'Send events that have happened. Nothing was recorded.', {
      fields: Object.fromEntries(fields),
    })
}
