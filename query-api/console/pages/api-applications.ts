import { z } from 'zod'
import { Scope } from '#domain/access/events.ts'
import { act, choicesOf, type Act, type Field } from '../act.ts'
import type { List } from '../list.ts'
import { apiOf, pageOf, type Page } from '../page.ts'
import { facts, link, moment, section } from '../show.ts'
import { h } from '../view.ts'
import { setUpChanges } from './set-up-changes.ts'

const ApiApplication = z.object({
  client_id: z.string(),
  name: z.string(),
  kind: z.enum(['server', 'browser']),
  scopes: z.array(Scope),
  allowed_origins: z.array(z.string()),
  former_secret_ends_at: z.string().nullable(),
})
type ApiApplication = z.infer<typeof ApiApplication>

const scopes: Field = {
  name: 'scopes',
  label: 'It may',
  kind: 'several',
  choices: choicesOf(Scope.options),
  isRequired: true,
}

const creation = (organisation_id: string): Act => ({
  title: 'Make an API application',
  method: 'POST',
  address: apiOf(organisation_id, 'api_applications'),
  isKeyed: true,
  shows: 'client_secret',
  ask: 'Whoever has its secret, which is shown once, acts in the name of your organisation.',
  fields: [
    { name: 'name', label: 'Name', kind: 'text', isRequired: true },
    scopes,
    {
      name: 'allowed_origins.0',
      label: 'Web page that uses it',
      kind: 'text',
      hint: 'Scheme, host and port, such as https://www.firm.example. Left empty, it is for servers alone.',
    },
  ],
})

const mayAct = (roles: readonly string[]): boolean => roles.includes('owner') || roles.includes('operator')

export const apiApplications: List<typeof ApiApplication> = {
  title: 'API applications',
  path: 'api_applications',
  api: 'api_applications',
  item: ApiApplication,
  filters: [],
  none: 'No program of yours can call the API yet.',
  acts: ({ me, organisation }) => (mayAct(me.roles) ? [creation(organisation?.id ?? '')] : []),
  columns: (organisation_id) => [
    {
      title: 'API application',
      show: ({ client_id, name }) => link(pageOf(organisation_id, `api_applications/${client_id}`), name),
    },
    { title: 'For', show: ({ kind }) => (kind === 'server' ? 'servers' : 'web pages') },
    { title: 'May', show: ({ scopes: held }) => held.join(', ') },
    { title: 'Its id', show: ({ client_id }) => h('code', {}, client_id) },
  ],
}

const actsOf = (address: string, { name, scopes: held }: ApiApplication): readonly Act[] => [
  {
    title: 'Replace the secret',
    method: 'POST',
    address: `${address}/rotate_secret`,
    shows: 'client_secret',
    ask: 'The new secret is shown once. The one before, and the tokens that were issued for it, end at once, or when the time that you give for both is over.',
    fields: [
      {
        name: 'overlap_seconds',
        label: 'Seconds in which the one before goes on',
        kind: 'whole number',
        hint: 'Up to 30 days: 2592000. Left empty, it ends at once.',
      },
    ],
  },
  {
    title: 'Change what it may',
    method: 'PATCH',
    address,
    ask: 'Where something is taken away, its tokens end at once, and it asks for others.',
    fields: [
      { name: 'name', label: 'Name', kind: 'text', value: name },
      { ...scopes, values: held },
    ],
  },
  {
    title: 'End it',
    method: 'DELETE',
    address,
    tone: 'danger',
    ask: `${name} can call nothing any more: its secret and its tokens end at once, in every process.`,
  },
]

/** One program of the firm that calls the API. Its secret is shown once, and never here. */
export const apiApplicationPage: Page = {
  address: '/console/organisations/:organisation_id/api_applications/:client_id',
  show: async (asked) => {
    const address = apiOf(asked.organisation?.id ?? '', `api_applications/${asked.path['client_id'] ?? ''}`)
    const [{ data: application }, changes] = await Promise.all([
      asked.read(address, z.object({ data: ApiApplication })),
      setUpChanges(asked, asked.path['client_id']),
    ])
    return {
      title: application.name,
      main: h(
        'div',
        { class: 'record' },
        h(
          'div',
          {},
          facts([
            ['Its id', h('code', {}, application.client_id)],
            ['For', application.kind === 'server' ? 'servers' : 'web pages'],
            ['May', application.scopes.join(', ')],
            ['Pages that use it', application.allowed_origins.join(', ') || 'none'],
            ['The secret before works until', moment(application.former_secret_ends_at)],
          ]),
          changes,
        ),
        mayAct(asked.me.roles) && h('div', {}, section('What next', actsOf(address, application).map(act))),
      ),
    }
  },
}
