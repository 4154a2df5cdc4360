import { z } from 'zod'
import { idAsName, type NameOf } from '../list.ts'
import { apiOf, pageOf, type Asked } from '../page.ts'
import { link, shortId, type Choice } from '../show.ts'
import type { View } from '../view.ts'

const Named = z.object({ data: z.array(z.object({ id: z.string(), name: z.string() })) })

type Known = { readonly name: string; readonly path: 'endpoint_connections' | 'integration_connections' }

/** The names of an organisation’s connections by their ids. */
export type ConnectionNames = ReadonlyMap<string, Known>

/** As many of each as a page of the API has. */
const most = 100

export const connectionNames = async ({
  organisation,
  now,
}: Pick<Asked, 'organisation' | 'now'>): Promise<ConnectionNames> => {
  const of = async (path: Known['path']) => {
    const { data } = await now(`${apiOf(organisation?.id ?? '', path)}?limit=${most}`, Named)
    return data.map(({ id, name }) => [id, { name, path }] as const)
  }
  return new Map((await Promise.all([of('endpoint_connections'), of('integration_connections')])).flat())
}

/** A connection by its name; one that is gone, or beyond the names that were read, by its id. */
export const connectionLink = (organisation_id: string, id: string, names: ConnectionNames): View => {
  const known = names.get(id)
  return known ? link(pageOf(organisation_id, `${known.path}/${id}`), known.name) : `connection …${shortId(id)}`
}

/** The same by their names alone, for a list. */
export const nameOfConnections = async (asked: Pick<Asked, 'organisation' | 'now'>): Promise<NameOf> => {
  const names = await connectionNames(asked)
  return (id) => names.get(id)?.name ?? idAsName(id)
}

/** The connections to choose from: all, or those of one kind. */
export const connectionChoices =
  (only?: Known['path']) =>
  async (asked: Pick<Asked, 'organisation' | 'now'>): Promise<readonly Choice[]> =>
    [...(await connectionNames(asked))]
      .filter(([, { path }]) => only === undefined || path === only)
      .map(([id, { name }]) => [id, name] as const)
