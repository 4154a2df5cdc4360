import { areas } from '../areas.ts'
import { pageOf, type Page } from '../page.ts'
import { link, section } from '../show.ts'
import { h } from '../view.ts'
import { setUpChanges } from './set-up-changes.ts'

/** All that is set up, and who has changed it last. */
export const setUpPage: Page = {
  address: '/console/organisations/:organisation_id/setup',
  show: async (asked) => {
    const organisation_id = asked.organisation?.id ?? ''
    const { parts = [] } = areas.find(({ path }) => path === 'setup') ?? {}
    const lists = parts.filter(({ path }) => path !== 'setup')
    return {
      title: 'Set-up',
      main: [
        section(
          'What is set up',
          h(
            'ul',
            {},
            lists.map(({ title, path }) => h('li', {}, link(pageOf(organisation_id, path), title))),
          ),
        ),
        await setUpChanges(asked),
      ],
    }
  },
}
