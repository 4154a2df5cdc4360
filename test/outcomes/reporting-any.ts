import type { ApiApplicationId } from '#domain/values.ts'
import { organisation_id } from '../leads/builders.ts'
import type { Fixture } from '../leads/fixture.ts'

/** From now on the application has the scope `outcomes`. */
export const mayReportAny = ({ directory }: Pick<Fixture, 'directory'>, id: ApiApplicationId): void => {
  directory.applications.set(id, {
    id,
    organisation_id,
    name: 'Office',
    kind: 'server',
    scopes: ['write', 'outcomes'],
    allowed_origins: [],
    secret_hash: '',
    epoch: 0,
    former: null,
    deleted: false,
  })
}
