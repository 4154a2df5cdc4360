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

/** What was answered; of another status than this, an error that shows all of it. */
const answered = <Data>(
  status: number,
  answer: { readonly status: number; readonly body: { readonly data: Data } },
): Data => {
  if (answer.status !== status) throw new Error(`It was answered ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body.data
}

/** Makes the key of a user their own: they replace it themselves. */
export const withOwnKey = async (service: Service, organisation_id: string | null, member: Member): Promise<Member> => {
  const address = `${usersAddress(organisation_id)}/${member.id}`
  const shown = answered(200, await service.send<{ keys: readonly { id: string }[] }>('GET', address))
  const rotation = `${address}/keys/${shown.keys[0]?.id ?? ''}/rotate`
  return Made.parse(answered(201, await service.send('POST', rotation, { token: member.key, body: {} })))
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
  const body = { name, email, roles, ...others }
  const { id } = answered(201, await service.send<{ id: string }>('POST', address, { body }))
  return Made.parse(answered(201, await service.send('POST', `${address}/${id}/keys`, { body: {} })))
}
