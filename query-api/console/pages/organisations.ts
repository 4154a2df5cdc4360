import { z } from 'zod'
import type { Page } from '../page.ts'
import { badge, empty, link, table } from '../show.ts'

export const Organisations = z.object({
  data: z.array(z.object({ id: z.string(), name: z.string(), slug: z.string(), active: z.boolean() })),
})

/** Where whoever works for the whole installation begins. */
export const organisationsPage: Page = {
  address: '/console/organisations',
  show: async ({ read }) => {
    const { data } = await read('/admin/v1/organisations', Organisations)
    return {
      title: 'Organisations',
      main:
        data.length === 0
          ? empty('No organisation is set up yet: npm run setup -- FILE sets one up.')
          : table(
              'Organisations',
              [
                { title: 'Name', show: ({ id, name }) => link(`/console/organisations/${id}/work`, name) },
                { title: 'Short name', show: ({ slug }) => slug },
                {
                  title: 'State',
                  show: ({ active }) => (active ? badge('active', 'good') : badge('not active', 'bad')),
                },
              ],
              data,
            ),
    }
  },
}
