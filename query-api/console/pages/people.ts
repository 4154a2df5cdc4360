import { z } from 'zod'
import { OrganisationRole } from '#domain/values.ts'
import { act, choicesOf, type Act, type Field } from '../act.ts'
import type { List } from '../list.ts'
import { apiOf, pageOf, type Page } from '../page.ts'
import { badge, empty, facts, link, moment, section, table, text } from '../show.ts'
import { h } from '../view.ts'

const User = z.object({
  id: z.string(),
  organisation_id: z.string().nullable(),
  name: z.string(),
  email: z.string().nullable(),
  roles: z.array(z.string()),
  sees_personal_data: z.boolean(),
  added_at: z.string(),
  ends_at: z.string().nullable(),
  in_force: z.boolean(),
  linked_at: z.array(z.string()),
  keys: z.array(z.object({ id: z.string(), made_at: z.string(), ends_at: z.string().nullable() })),
})
type User = z.infer<typeof User>

const roles: Field = {
  name: 'roles',
  label: 'Roles',
  kind: 'several',
  choices: choicesOf(OrganisationRole.options),
  isRequired: true,
}

const addition = (organisation_id: string): Act => ({
  title: 'Add a colleague',
  method: 'POST',
  address: apiOf(organisation_id, 'users'),
  fields: [
    { name: 'name', label: 'Name', kind: 'text', isRequired: true },
    { name: 'email', label: 'Email', kind: 'text', isRequired: true },
    roles,
    { name: 'sees_personal_data', label: 'As an auditor, sees personal values', kind: 'yes or no' },
  ],
})

export const people: List<typeof User> = {
  title: 'People',
  path: 'people',
  api: 'users',
  item: User,
  filters: [],
  none: 'Nobody was added yet. The operator adds the first owner; owners add the others.',
  acts: ({ me, organisation }) => (me.roles.includes('owner') ? [addition(organisation?.id ?? '')] : []),
  columns: (organisation_id) => [
    { title: 'Name', show: ({ id, name }) => link(pageOf(organisation_id, `people/${id}`), name) },
    { title: 'State', show: ({ in_force }) => (in_force ? badge('active', 'good') : badge('ended')) },
    { title: 'Roles', show: ({ roles: held }) => held.join(', ') },
    { title: 'Email', show: ({ email }) => text(email) },
    { title: 'Keys', show: ({ keys }) => String(keys.length), isNumber: true },
  ],
}

const keyActs = (address: string, key_id: string): readonly Act[] => [
  {
    title: 'Replace',
    of: key_id,
    method: 'POST',
    address: `${address}/keys/${key_id}/rotate`,
    shows: 'key',
    ask: 'The key ends at once, and another takes its place, which is shown once.',
  },
  {
    title: 'End',
    of: key_id,
    method: 'DELETE',
    address: `${address}/keys/${key_id}`,
    tone: 'danger',
    ask: 'The key ends at once, in every process, and with it whoever is signed in by it.',
  },
]

const actsOf = (user: User, address: string): readonly Act[] => [
  {
    title: 'Make a key',
    method: 'POST',
    address: `${address}/keys`,
    shows: 'key',
    ask: 'The key is shown once. Hand it over safely, and have it replaced.',
  },
  {
    title: 'Change the roles',
    method: 'PATCH',
    address,
    sends: Object.fromEntries(user.roles.map((role, index) => [`from_roles.${index}`, role])),
    fields: [{ ...roles, values: user.roles }],
  },
  {
    title: 'End this user',
    method: 'DELETE',
    address,
    tone: 'danger',
    ask: `All keys of ${user.name} end at once. Whatever they did stays theirs in the history.`,
  },
]

/** One colleague with their keys, and the roles that they have. */
export const personPage: Page = {
  address: '/console/organisations/:organisation_id/people/:user_id',
  show: async ({ me, organisation, path, read }) => {
    const address = apiOf(organisation?.id ?? '', `users/${path['user_id'] ?? ''}`)
    const { data: user } = await read(address, z.object({ data: User }))
    const mayAct = me.roles.includes('owner') && user.in_force
    return {
      title: user.name,
      main: h(
        'div',
        { class: 'record' },
        h(
          'div',
          {},
          facts([
            ['State', user.in_force ? badge('active', 'good') : badge('ended')],
            ['Email', text(user.email)],
            ['Roles', user.roles.join(', ')],
            ['Added', moment(user.added_at)],
            ['Ends', moment(user.ends_at)],
            ['Signs in by', user.linked_at.length === 0 ? 'keys alone' : user.linked_at.join(', ')],
          ]),
          section(
            'Keys',
            user.keys.length === 0
              ? empty('No key is in force.')
              : table(
                  'Keys',
                  [
                    { title: 'Key', show: ({ id }) => h('code', {}, id) },
                    { title: 'Made', show: ({ made_at }) => moment(made_at) },
                    { title: 'Ends', show: ({ ends_at }) => moment(ends_at) },
                    { title: 'Acts', show: ({ id }) => mayAct && keyActs(address, id).map(act) },
                  ],
                  user.keys,
                ),
          ),
        ),
        mayAct && h('div', {}, section('What next', actsOf(user, address).map(act))),
      ),
    }
  },
}
