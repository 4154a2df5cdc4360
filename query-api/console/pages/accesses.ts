import { z } from 'zod'
import { listPage, idAsName, userNames, type List } from '../list.ts'
import { pageOf } from '../page.ts'
import { link, moment, shortId, text, words } from '../show.ts'
import { h } from '../view.ts'
import { historyParts } from './history.ts'

const Access = z.object({
  id: z.string(),
  at: z.string(),
  actor: z.object({ type: z.string(), id: z.string() }),
  method: z.string(),
  route: z.string(),
  record_ids: z.array(z.string()),
  rows: z.int(),
  personal: z.string().nullable(),
  filters: z.array(z.string()),
  request_id: z.string(),
})
type Access = z.infer<typeof Access>

const fewIds = 3

const recordsOf = ({ record_ids, rows }: Access) => [
  rows === 1 ? 'one' : String(rows),
  record_ids.length > 0 &&
    h(
      'details',
      {},
      h('summary', {}, record_ids.length <= fewIds ? record_ids.map(shortId).join(', ') : 'Their ids'),
      h(
        'ul',
        {},
        record_ids.map((id) => h('li', {}, h('code', {}, id))),
      ),
    ),
]

/** Who was shown personal values, the latest first. */
export const accesses: List<typeof Access> = {
  title: 'Who looked',
  path: 'history/accesses',
  api: 'accesses',
  isAudit: true,
  names: userNames,
  item: Access,
  filters: [
    { name: 'record_id', label: 'At the record (id)' },
    { name: 'person_id', label: 'At the person (id)' },
    { name: 'actor_id', label: 'Who (id of a user, name of a key)' },
    { name: 'route', label: 'Address, as in the list' },
    { name: 'since', label: 'From', isMoment: true },
    { name: 'until', label: 'Before', isMoment: true },
  ],
  none: 'Nobody was shown a personal value yet.',
  above: ({ organisation, url }) => historyParts(organisation?.id ?? '', url),
  columns: (organisation_id, nameOf = idAsName) => [
    {
      title: 'Who',
      show: ({ actor: { type, id } }) =>
        type === 'user' ? link(pageOf(organisation_id, `people/${id}`), nameOf(id)) : `${words(type)} ${id}`,
    },
    { title: 'When', show: ({ at }) => moment(at) },
    { title: 'Asked for', show: ({ method, route }) => h('code', {}, `${method} ${route}`) },
    { title: 'By', show: ({ filters }) => text(filters.map(words).join(', ')) },
    { title: 'Records shown', show: recordsOf },
    { title: 'Personal values', show: ({ personal }) => text(personal) },
  ],
}

export const accessesPage = listPage(accesses)
