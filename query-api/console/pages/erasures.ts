import { z } from 'zod'
import type { List } from '../list.ts'
import { pageOf, type Page } from '../page.ts'
import { badge, empty, link, moment, shortId, table, text } from '../show.ts'
import { Organisations } from './organisations.ts'

const Erasure = z.object({
  contact_id: z.string(),
  requested_at: z.string(),
  erased_at: z.string().nullable(),
  given_up_at: z.string().nullable(),
  finished: z.boolean(),
  because: z.string().nullable(),
  records: z.int(),
})
type Erasure = z.infer<typeof Erasure>

const stateOf = ({ finished, given_up_at, erased_at }: Erasure) => {
  if (finished) return badge('done', 'good')
  if (given_up_at !== null) return badge('given up', 'bad')
  return badge(erased_at === null ? 'asked for' : 'read models forget it', 'wait')
}

/** The people of one organisation who were erased, and how far that has come. */
export const erasures: List<typeof Erasure> = {
  title: 'Erasures',
  path: 'erasures',
  api: 'erasures',
  item: Erasure,
  filters: [],
  none: 'Nobody of this organisation was erased.',
  columns: () => [
    { title: 'Person', show: ({ contact_id }) => shortId(contact_id) },
    { title: 'State', show: stateOf },
    { title: 'Asked for', show: ({ requested_at }) => moment(requested_at) },
    { title: 'Erased', show: ({ erased_at }) => moment(erased_at) },
    { title: 'Records', show: ({ records }) => String(records), isNumber: true },
    { title: 'Because', show: ({ because }) => text(because) },
  ],
}

/** The way to the erasures of each organisation. */
export const erasuresPage: Page = {
  address: '/console/erasures',
  show: async ({ now }) => {
    const { data } = await now('/admin/v1/organisations', Organisations)
    return {
      title: 'Erasures',
      main:
        data.length === 0
          ? empty('No organisation is set up yet.')
          : table(
              'Organisations',
              [{ title: 'Organisation', show: ({ id, name }) => link(pageOf(id, 'erasures'), name) }],
              data,
            ),
    }
  },
}
