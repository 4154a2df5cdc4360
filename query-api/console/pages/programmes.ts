import { z } from 'zod'
import { Programme } from '#domain/loyalty/record.ts'
import type { List } from '../list.ts'
import { apiOf, pageOf, type Page } from '../page.ts'
import { Refused } from '../read.ts'
import { empty, facts, link, moment, section, table } from '../show.ts'
import { h } from '../view.ts'
import { setUpChanges } from './set-up-changes.ts'

export const programmes: List<typeof Programme> = {
  title: 'Programmes',
  path: 'programmes',
  api: 'programmes',
  item: Programme,
  filters: [],
  none: 'No loyalty programme is set up yet. The set-up file declares them.',
  columns: (organisation_id) => [
    { title: 'Programme', show: ({ id, name }) => link(pageOf(organisation_id, `programmes/${id}`), name) },
    { title: 'Short name', show: ({ slug }) => h('code', {}, slug) },
    { title: 'Tiers', show: ({ tiers }) => tiers.map(({ name }) => name).join(', ') },
    { title: 'Products', show: ({ products }) => products.join(', ') },
  ],
}

/** One loyalty programme with its tiers. */
export const programmePage: Page = {
  address: '/console/organisations/:organisation_id/programmes/:programme_id',
  show: async (asked) => {
    const organisation_id = asked.organisation?.id ?? ''
    const [{ data }, changes] = await Promise.all([
      asked.read(apiOf(organisation_id, 'programmes'), z.object({ data: z.array(Programme) })),
      setUpChanges(asked, asked.path['programme_id']),
    ])
    const programme = data.find(({ id }) => id === asked.path['programme_id'])
    if (!programme) throw new Refused(404, 'There is no such programme.')
    const { months, starts } = programme.cycle
    return {
      title: programme.name,
      main: [
        facts([
          ['Short name', h('code', {}, programme.slug)],
          ['Points count for', `${months} months`],
          ['A cycle begins', starts === 'confirmation' ? 'when the membership is confirmed' : `each ${starts}`],
          [
            'Products',
            programme.products.map((slug) => [link(pageOf(organisation_id, `products/${slug}`), slug), ' ']),
          ],
          ['Made', moment(programme.created_at)],
        ]),
        section(
          'Tiers',
          programme.tiers.length === 0
            ? empty('It has no tiers.')
            : table(
                'Tiers',
                [
                  { title: 'Tier', show: ({ name }) => name },
                  { title: 'Key', show: ({ key }) => h('code', {}, key) },
                  {
                    title: 'From points',
                    show: ({ threshold }) => threshold?.toLocaleString('en-GB') ?? '–',
                    isNumber: true,
                  },
                ],
                programme.tiers,
              ),
        ),
        changes,
      ],
    }
  },
}
