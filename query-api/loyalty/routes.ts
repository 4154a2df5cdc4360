import { z } from 'zod'
import {
  EntryShown,
  programmesOf,
  renderMembership,
  ShownMembership,
  type Membership,
  type Programme,
} from '#domain/loyalty/record.ts'
import { MemberReference } from '#domain/loyalty/events.ts'
import { MembershipId, OrganisationId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { Cursor } from '#infra/http/cursor.ts'
import { Problem } from '#infra/http/problem.ts'
import { teamRoute, readOrWrite, route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { Limit } from '../feed.ts'
import { findDocument } from '../find-document.ts'
import { newestFirst } from '../newest-first.ts'
import { Revision } from '../page.ts'

type Deps = {
  readonly db: Database
  /** For lists. */
  readonly pool: Database
  readonly programmes: ReadonlyMap<string, Programme>
}

const list = { table: 'memberships', time: 'created_at' } as const

const ofOrganisation = z.object({ organisation_id: OrganisationId })

const noMembership = () => new Problem('not_found', 'There is no membership with this reference. Check the address.')

export const membershipReads = ({ db, pool, programmes }: Deps): Route[] => {
  const shown = (membership: Membership): ShownMembership => {
    const programme = programmes.get(membership.programme_id)
    if (!programme) throw new Problem('unavailable', 'The programme is not read yet. Try again.')
    return renderMembership(membership, programme)
  }

  const byId = async (organisation_id: OrganisationId, id: string): Promise<Membership | undefined> => {
    if (!MembershipId.safeParse(id).success) return undefined
    return findDocument<Membership>(db, 'memberships', organisation_id, id)
  }

  /** A reference is unique in its programme; one that two programmes know names nobody. */
  const byReference = async (organisation_id: OrganisationId, reference: string): Promise<Membership | undefined> => {
    const { rows } = await db.query<{ document: Membership }>({
      name: 'membership-by-reference',
      ...sql`
        select document from memberships
        where organisation_id = ${organisation_id} and external_member_ref = ${reference} limit 100`,
    })
    const confirmed = rows.filter(({ document }) => document.confirmed_on !== null)
    return confirmed.length === 1 ? confirmed[0]?.document : undefined
  }

  return [
    route(
      {
        method: 'get',
        address: '/api/v1/programme_memberships/:external_ref',
        tag: 'Loyalty',
        summary: 'Read a membership',
        access: { kind: 'application', scopes: readOrWrite, serverOnly: true },
        path: z.object({
          external_ref: MemberReference.describe(
            'The partner’s reference for the member or, before it is confirmed, the membership’s id.',
          ),
        }),
        answers: { 200: z.object({ data: ShownMembership }) },
      },
      async ({ path: { external_ref }, caller: { organisation_id } }) => {
        const found = (await byId(organisation_id, external_ref)) ?? (await byReference(organisation_id, external_ref))
        if (!found) throw noMembership()
        return { status: 200, body: { data: shown(found) } }
      },
    ),
    route(
      {
        ...teamRoute('leads', 'policies'),
        method: 'get',
        address: '/admin/v1/organisations/:organisation_id/memberships',
        summary: 'List the memberships of an organisation, newest first',
        path: ofOrganisation,
        query: z.object({
          policy_number: z.string().optional(),
          external_member_ref: z.string().trim().optional(),
          cursor: Cursor,
          limit: Limit,
        }),
        answers: { 200: z.object({ data: z.array(ShownMembership), next_cursor: z.string().nullable() }) },
        errors: ['invalid_parameter'],
      },
      async ({ path: { organisation_id }, query: { policy_number, external_member_ref, cursor, limit } }) => {
        const asked = { organisation_id, cursor, limit }
        const filters = { policy_number, external_member_ref }
        const { page, next_cursor } = await newestFirst<Membership>(pool, list, asked, filters)
        const known = new Set(programmesOf(programmes, organisation_id).map((each) => each.id))
        const data = page.filter(({ document }) => known.has(document.programme_id))
        return { status: 200, body: { data: data.map(({ document }) => shown(document)), next_cursor } }
      },
    ),
    route(
      {
        ...teamRoute('leads', 'policies'),
        method: 'get',
        address: '/admin/v1/organisations/:organisation_id/memberships/:id/events',
        summary: 'List the events that the partner sent about a member, oldest first',
        path: ofOrganisation.extend({ id: MembershipId }),
        query: z.object({ cursor: Revision.optional(), limit: Limit }),
        answers: { 200: z.object({ data: z.array(EntryShown), next_cursor: z.string().nullable() }) },
        errors: ['invalid_parameter'],
      },
      async ({ path: { organisation_id, id }, query: { cursor = -1, limit } }) => {
        if (!(await byId(organisation_id, id))) throw notFound('membership')
        const { rows } = await pool.query<{ revision: number; document: EntryShown }>(sql`
          select revision, document from membership_entries
          where organisation_id = ${organisation_id} and membership_id = ${id} and revision > ${cursor}
          order by revision limit ${limit + 1}`)
        const page = rows.slice(0, limit)
        const last = rows.length > limit ? page.at(-1) : undefined
        const next_cursor = last ? String(last.revision) : null
        return { status: 200, body: { data: page.map(({ document }) => document), next_cursor } }
      },
    ),
  ]
}
