import { apiOf, pageOf, type Page } from '../page.ts'
import { link, section } from '../show.ts'
import { h, type View } from '../view.ts'
import { setUpChanges } from './set-up-changes.ts'

const field = (id: string, title: string, hint: string, control: View): View =>
  h(
    'div',
    { class: 'field' },
    h('label', { for: id }, title),
    h('p', { class: 'hint', id: `${id}-hint` }, hint),
    control,
  )

/** Its work is done by `browser/setup-file.ts`; without script it does nothing. */
const form = (organisation_id: string): View =>
  h(
    'form',
    {
      class: 'setup-file',
      method: 'dialog',
      'data-setup-file': '/admin/v1/setup',
      'data-exported': apiOf(organisation_id, 'setup?format=yaml'),
      'data-approvals': pageOf(organisation_id, 'approvals'),
    },
    field(
      'setup-file',
      'A file of yours',
      'YAML, as it was downloaded or written. It is read here, and nothing is sent before you ask.',
      h('input', { id: 'setup-file', type: 'file', accept: ['.yaml', '.yml'], 'aria-describedby': 'setup-file-hint' }),
    ),
    h('p', {}, 'or ', h('button', { type: 'button', 'data-load': '' }, 'Begin with what is set up')),
    field(
      'setup-text',
      'The set-up file',
      'Whatever it leaves out stays as it is.',
      h('textarea', {
        id: 'setup-text',
        rows: 18,
        required: true,
        spellCheck: 'false',
        'aria-describedby': 'setup-text-hint',
      }),
    ),
    field(
      'setup-files',
      'Files that it names (optional)',
      'Rates as CSV, and documents. Those of a file that was downloaded are in it.',
      h('input', { id: 'setup-files', type: 'file', multiple: true, 'aria-describedby': 'setup-files-hint' }),
    ),
    h('div', { 'data-missing': '' }),
    h('div', { class: 'fault', 'data-fault': '', role: 'alert' }),
    h('button', { type: 'submit', class: 'primary' }, 'Show what it changes'),
  )

/** The set-up as a file: downloaded, edited, planned and applied. */
export const setupFilePage: Page = {
  address: '/console/organisations/:organisation_id/setup_file',
  show: async (asked) => {
    const organisation_id = asked.organisation?.id ?? ''
    return {
      title: 'Set-up file',
      main: [
        h(
          'p',
          {},
          link(apiOf(organisation_id, 'setup?format=yaml'), 'Download what is set up'),
          ': secrets are named in it, and not shown.',
        ),
        asked.me.roles.some((role) => role === 'owner' || role === 'operator') &&
          section('Plan and apply', form(organisation_id)),
        h('div', { id: 'plan' }),
        await setUpChanges(asked),
      ],
    }
  },
}
