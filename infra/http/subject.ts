import { z } from 'zod'
import { ApplicationId, OrganisationId, type ApiApplicationId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import type { Keys } from '../crypto/keys.ts'
import { isShareTokenOf } from '../crypto/share-token.ts'
import { waitUntilKnown } from './authenticate.ts'
import type { Access, Caller } from './route.ts'
import type { TeamUser } from './team.ts'

/** The owner of a record: the application whose share token opens it, the API application that sent it. */
export type Owner = { readonly application_id?: ApplicationId; readonly api_application_id?: ApiApplicationId }

/** The owner of a record of an organisation; undefined when the organisation has no record with this id. */
export type FindOwner = (organisation_id: OrganisationId, id: string) => Promise<Owner | undefined>

type SubjectOptions = {
  readonly keys: Pick<Keys, 'shareTokens'>
  /**
   * Owners by the type of the subject. Whether a web page may see an application is decided by its id alone, which gives its
   * share token.
   */
  readonly owners?: Readonly<Record<string, FindOwner>>
  /** The organisations that can be named; left out, the routes look by themselves. */
  readonly organisations?: { readonly has: (id: string) => boolean }
}

/** A request as far as access to its subject depends on it. */
export type SubjectRequest = {
  readonly caller: Caller | undefined
  readonly shareToken: string | undefined
  /** The parameters of the path, which their schema has passed. */
  readonly path: Readonly<Record<string, string | string[]>>
}

export type SubjectCheck = {
  /** True where a share token is that of the application. */
  readonly isProven: (application_id: ApplicationId, shareToken: string | undefined) => boolean
  /** Throws `not_found` when the caller may not see the subject of the request, as if there were none. */
  readonly refuseHidden: (access: Access, request: SubjectRequest) => Promise<void>
  /** Throws `not_found` when there is no such subject, which is looked up where its owner can be told. */
  readonly refuseMissing: (access: Access, request: Omit<SubjectRequest, 'shareToken'>) => Promise<void>
  /**
   * Throws `not_found` when somebody of the team names, in a part of the request, an organisation that there is not: to a
   * person of an organisation there is no other, so that nothing tells which others there are.
   */
  readonly refuseUnknownOrganisation: (access: Access, named: unknown, user?: TeamUser) => Promise<void>
}

/** Enforces the rule about the subject that a route declares: the only place that does. */
export const makeSubjectCheck = ({ keys, owners = {}, organisations }: SubjectOptions): SubjectCheck => {
  const isProven: SubjectCheck['isProven'] = (id, shareToken) => isShareTokenOf(keys, id, shareToken)

  const ownerOf = async (type: string, { organisation_id }: Caller, id: string): Promise<Owner | undefined> => {
    if (type === 'application') return { application_id: ApplicationId.parse(id) }
    const find = owners[type]
    if (!find) throw new Error(`There is no lookup for the owner of a subject of type ${type}.`)
    return find(organisation_id, id)
  }

  return {
    isProven,
    refuseHidden: async (access, { caller, shareToken, path }) => {
      if (access.kind !== 'application' || !access.subject || !caller) return
      const { type, parameter, visibleTo } = access.subject
      // A server may see everything of its organisation, and the handler reads only that.
      if (visibleTo === 'share_token_holder' && caller.kind === 'server') return

      const owner = await ownerOf(type, caller, String(path[parameter]))
      const isVisible =
        visibleTo === 'share_token_holder'
          ? owner?.application_id !== undefined && isProven(owner.application_id, shareToken)
          : owner?.api_application_id === caller.api_application_id
      if (!isVisible) throw missing(type)
    },
    refuseMissing: async (access, { caller, path }) => {
      if (access.kind !== 'application' || !access.subject || !caller) return
      const { type, parameter } = access.subject
      const find = owners[type]
      if (find && !(await find(caller.organisation_id, String(path[parameter])))) throw missing(type)
    },
    refuseUnknownOrganisation: async (access, named, user) => {
      if (access.kind !== 'team') return
      const { data } = NamingOrganisation.safeParse(named)
      if (!data) return
      const own = user?.organisation_id ?? null
      if (own !== null && data.organisation_id !== own) throw notFound('organisation')
      if (!organisations) return
      await waitUntilKnown(() => organisations.has(data.organisation_id))
      if (!organisations.has(data.organisation_id)) throw notFound('organisation')
    },
  }
}

const NamingOrganisation = z.object({ organisation_id: OrganisationId })

const missing = (type: string) => notFound(type.replaceAll('_', ' '))
