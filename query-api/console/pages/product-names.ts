import { z } from 'zod'
import { idAsName, type NameOf } from '../list.ts'
import { apiOf, type Asked } from '../page.ts'

const Named = z.object({ data: z.array(z.object({ id: z.string(), name: z.string() })) })

/** The names of an organisation’s products by their ids. */
export const productNames = async ({ organisation, now }: Pick<Asked, 'organisation' | 'now'>): Promise<NameOf> => {
  const { data } = await now(`${apiOf(organisation?.id ?? '', 'products')}?limit=100`, Named)
  const names = new Map(data.map(({ id, name }) => [id, name]))
  return (id) => names.get(id) ?? idAsName(id)
}
