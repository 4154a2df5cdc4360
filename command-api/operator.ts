import type { Directory } from '#domain/access/record.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { RequestFacts } from '#infra/http/route.ts'
import type { Context } from './writing/handle.ts'

export { operatorRoute } from '#infra/http/route.ts'

/** The acting operator: the name of the key. */
export const operatorActor = ({ operator }: Pick<RequestFacts, 'operator'>) =>
  ({ type: 'operator', id: operator ?? null }) as const

/** A command of the operator's. */
export const operatorContext = (organisation_id: OrganisationId, facts: RequestFacts): Context => ({
  organisation_id,
  actor: operatorActor(facts),
  correlation_id: facts.request_id,
  now: facts.now,
})

export type Organisations = Pick<Directory, 'organisations'>
