import type { Directory } from '#domain/access/record.ts'
import type { OrganisationId } from '#domain/values.ts'
import { notFound } from '#infra/http/problem.ts'
import type { RequestFacts } from '#infra/http/route.ts'
import type { Context } from './handle.ts'

/** What the operator's own routes have in common. */
export const operatorRoute = { tag: 'Operator', access: { kind: 'operator' } } as const

/** A command of the operator's. */
export const operatorContext = (organisation_id: OrganisationId, { request_id, now }: RequestFacts): Context => ({
  organisation_id,
  actor: { type: 'operator', id: null },
  correlation_id: request_id,
  now,
})

export type Organisations = Pick<Directory, 'organisations'>

export const refuseUnknownOrganisation = ({ organisations }: Organisations, id: OrganisationId): void => {
  if (!organisations.has(id)) throw notFound('organisation')
}
