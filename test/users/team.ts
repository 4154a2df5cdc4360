import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { InstallationRole, OrganisationRole } from '#domain/values.ts'
import type { wholeService } from '../whole-service.ts'

type Service = Awaited<ReturnType<typeof wholeService>>

export type Member = { readonly id: string; readonly key: string; readonly email: string }

const Made = z.object({ id: z.string(), email: z.string(), key: z.string() })

/** Where the users of an organisation are, or those of the installation. */
export const usersAddress = (organisation_id: string | null): string =>
  organisation_id === null ? '/admin/v1/users' : `/admin/v1/organisations/${organisation_id}/users`

/** Makes the key of a user their own: they replace it themselves. */
export const withOwnKey = async (service: Service, organisation_id: string | null, member: Member): Promise<Member> => {
  const address = `${usersAddress(organisation_id)}/${member.id}`
  const shown = await service.send<{ keys: readonly { id: string }[] }>('GET', address)
  const rotation = `${address}/keys/${shown.body.data.keys[0]?.id ?? ''}/rotate`
  const made = await service.send('POST', rotation, { token: member.key, body: {} })
  return Made.parse(made.body.data)
}

/** A user with a key, in a team. */
export const memberOf = async (
  service: Service,
  organisation_id: string | null,
  roles: readonly (OrganisationRole | InstallationRole)[],
  details: { readonly name?: string; readonly sees_personal_data?: boolean; readonly ends_at?: string } = {},
): Promise<Member> => {
  const address = usersAddress(organisation_id)
  const { name = `The ${roles.join(' and ')}`, ...others } = details
  const email = `${createHash('sha256').update(`${name}${organisation_id}`).digest('hex').slice(0, 12)}@firm.test`
  const added = await service.send<{ id: string }>('POST', address, { body: { name, email, roles, ...others } })
  if (added.status !== 201) throw new Error(JSON.stringify(added.body))
  const made = await service.send('POST', `${address}/${added.body.data.id}/keys`, { body: {} })
  return Made.parse(made.body.data)
}
