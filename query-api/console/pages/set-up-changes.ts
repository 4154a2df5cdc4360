import { z } from 'zod'
import { apiOf, pageOf, type Asked } from '../page.ts'
import { empty, link, moment, section, words } from '../show.ts'
import { sentence } from '../timeline.ts'
import { h, type View } from '../view.ts'

const Changes = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      type: z.string(),
      user_id: z.string().nullable(),
      operator: z.string().nullable(),
      names: z.record(z.string(), z.union([z.string(), z.number()])),
      changed_at: z.string(),
    }),
  ),
})
type Change = z.infer<typeof Changes>['data'][number]

const whoOf = ({ user_id, operator }: Change, { me, organisation }: Pick<Asked, 'me' | 'organisation'>): View => {
  if (user_id === me.id) return 'by yourself'
  if (user_id !== null) return ['by ', link(pageOf(organisation?.id ?? '', `people/${user_id}`), 'a colleague')]
  return `by a program with the key ${operator ?? ''}`
}

const shown = 25

/** The newest changes of the set-up, or of one record of it, each with its event. */
export const setUpChanges = async (asked: Pick<Asked, 'me' | 'organisation' | 'now'>, record_id?: string) => {
  const narrowed = record_id === undefined ? '' : `&record_id=${record_id}`
  const address = apiOf(asked.organisation?.id ?? '', `set_up_changes?limit=${shown}${narrowed}`)
  const { data } = await asked.now(address, Changes)
  const entries = data.map((change) =>
    h(
      'li',
      { 'data-event': change.id, id: `event-${change.id}` },
      h('p', {}, h('strong', {}, sentence(change.type)), ' ', h('span', { class: 'quiet' }, whoOf(change, asked))),
      h(
        'p',
        { class: 'quiet details' },
        Object.entries(change.names).map(([name, value]) => h('span', {}, `${words(name)}: ${value}`)),
      ),
      h('p', { class: 'quiet small' }, moment(change.changed_at), ' · ', h('code', {}, change.id)),
    ),
  )
  const title = 'What was changed'
  // Another process makes the list of the events, a moment after they are answered.
  return h(
    'div',
    { 'data-late': '' },
    section(title, data.length === 0 ? empty('Nothing yet.') : h('ol', { class: 'timeline' }, entries)),
  )
}
