import { z } from 'zod'
import { CancellationReason, PolicyDocumentKind } from '#domain/policies/events.ts'
import { Policy, PolicyStatus } from '#domain/policies/record.ts'
import { act, choicesOf, type Act } from '../act.ts'
import type { List } from '../list.ts'
import { apiOf, pageOf, type Page } from '../page.ts'
import {
  badge,
  day,
  facts,
  label,
  link,
  moment,
  money,
  section,
  table,
  text,
  words,
  type Tone,
  nameOf,
} from '../show.ts'
import { pastForm } from '../moments.ts'
import { happened } from '../timeline.ts'
import { h, type View } from '../view.ts'
import { claimsOf, openClaim } from './claims.ts'
import { premiumsOf } from './premiums.ts'

const tones: Readonly<Record<string, Tone>> = {
  active: 'good',
  pending_start: 'calm',
  suspended: 'wait',
  lapsed: 'bad',
  cancelled: 'bad',
}

export const policies: List<typeof Policy> = {
  title: 'Policies',
  path: 'policies',
  api: '/admin/v1/policies',
  item: Policy,
  filters: [
    { name: 'status', label: 'Status', choices: choicesOf(PolicyStatus.options) },
    { name: 'policy_number', label: 'Number' },
  ],
  none: 'No policy was sold yet. A policy begins when an application is bound.',
  columns: (organisation_id) => [
    {
      title: 'Number',
      show: ({ id, policy_number }) => link(pageOf(organisation_id, `policies/${id}`), policy_number),
    },
    { title: 'Person', show: (policy) => text(nameOf(policy.customer)) },
    { title: 'Status', show: ({ status }) => badge(status, tones[status]) },
    { title: 'Premium a month', show: ({ premium_pence }) => money(premium_pence), isNumber: true },
    { title: 'Starts', show: ({ start_date }) => day(start_date) },
    { title: 'Next collection', show: ({ next_collection_on }) => day(next_collection_on) },
  ],
}

const endings = ['cancelled', 'expired', 'lapsed', 'claimed']

/** Another amount, premium or day of collection: whatever is left empty stays as it is. */
const amendment = ({ components, collection_day }: Policy): Pick<Act, 'sends' | 'fields'> => {
  const going = components.filter(({ status }) => status !== 'ended')
  return {
    sends: Object.fromEntries(going.map(({ cover_index }, place) => [`components.${place}.cover_index`, cover_index])),
    fields: [
      ...going.flatMap(({ cover_type }, place) => [
        {
          name: `components.${place}.cover_amount_pence`,
          label: `${label(cover_type)}: amount in pounds`,
          kind: 'pounds' as const,
        },
        {
          name: `components.${place}.premium_pence`,
          label: `${label(cover_type)}: premium a month in pounds`,
          kind: 'pounds' as const,
        },
      ]),
      {
        name: 'collection_day',
        label: 'Day of collection',
        kind: 'whole number',
        hint: `It is ${collection_day} now. What is left empty stays as it is.`,
      },
      { name: 'note', label: 'Note for the team', kind: 'lines' },
    ],
  }
}

const bankDetails: Act['fields'] = [
  {
    name: 'direct_debit.account_holder_name',
    label: 'Account holder',
    kind: 'text',
    hint: 'With the two below, where it is another account.',
  },
  { name: 'direct_debit.sort_code', label: 'Sort code', kind: 'text' },
  { name: 'direct_debit.account_number', label: 'Account number', kind: 'text' },
]

/** Each is shown with what it will do before it is done. */
const actsOf = (policy: Policy, organisation_id: string): readonly Act[] => {
  const { id, status, payment_method } = policy
  const to = (path: string) =>
    ({ method: 'POST', isPreviewed: true, address: apiOf(organisation_id, `policies/${id}/${path}`) }) as const
  const suspend: Act = {
    ...to('suspension'),
    title: 'Suspend the cover',
    ask: 'The cover rests until it is reinstated.',
  }
  const reinstate: Act = { ...to('reinstatement'), title: 'Reinstate the policy', ask: 'Cover begins again.' }
  const amend: Act = {
    ...to('amendment'),
    ...amendment(policy),
    title: 'Amend',
    ask: 'The policy goes on so, and the customer gets a new schedule.',
  }
  const mandate: Act = {
    ...to('mandate'),
    title: 'Have the mandate made again',
    ask: 'A new Direct Debit mandate is asked for.',
    fields: bankDetails,
  }
  const cancel: Act = {
    ...to('cancellation'),
    title: 'Cancel the policy',
    tone: 'danger',
    ask: 'The policy ends.',
    fields: [
      {
        name: 'reason',
        label: 'Reason',
        kind: 'choice',
        choices: choicesOf(CancellationReason.options),
        isRequired: true,
      },
      { name: 'note', label: 'Note for the team', kind: 'lines', isRequired: true },
    ],
  }
  const isOver = endings.includes(status)
  const isMandateLost = payment_method.mandate_status === 'failed' || payment_method.mandate_status === 'cancelled'
  return [
    ...(status === 'active' ? [suspend] : []),
    ...(status === 'suspended' || status === 'lapsed' ? [reinstate] : []),
    ...(isOver ? [] : [amend, ...(isMandateLost ? [mandate] : []), cancel]),
  ]
}

const known = (policy: Policy): View =>
  facts([
    ['Number', policy.policy_number],
    ['Status', badge(policy.status, tones[policy.status])],
    ['Premium a month', money(policy.premium_pence)],
    ['Cover', money(policy.cover_amount_pence)],
    ['Starts', day(policy.start_date)],
    ['Ends', policy.end_date === null ? 'for the whole of life' : day(policy.end_date)],
    ['Cooling-off until', day(policy.cooling_off_ends_on)],
    ['Next collection', day(policy.next_collection_on)],
    ['Mandate', words(policy.payment_method.mandate_status)],
    ['Email', text(policy.customer.email)],
  ])

const coversOf = ({ components }: Policy): View =>
  section(
    'Covers',
    table(
      'Covers',
      [
        { title: 'Cover', show: ({ cover_type }) => label(cover_type) },
        { title: 'Amount', show: ({ cover_amount_pence }) => money(cover_amount_pence), isNumber: true },
        { title: 'Premium a month', show: ({ premium_pence }) => money(premium_pence), isNumber: true },
      ],
      components,
    ),
  )

/** The files that were issued with a policy; those who may read them open them. */
const documentsOf = ({ id, documents }: Policy, organisation_id: string, roles: readonly string[]): View => {
  if (documents.length === 0) return null
  const mayRead = ['policies', 'claims', 'auditor'].some((role) => roles.includes(role))
  const address = (version_id: string) =>
    `/admin/v1/policies/${id}/files/${version_id}?organisation_id=${organisation_id}`
  return section(
    'Documents',
    table(
      'Documents',
      [
        {
          title: 'Document',
          show: ({ name, kind, version_id }) =>
            // Key documents are the product's, and no files of this policy.
            mayRead && PolicyDocumentKind.safeParse(kind).success ? link(address(version_id), name) : name,
        },
        { title: 'Kind', show: ({ kind }) => words(kind) },
        { title: 'Issued', show: ({ issued_at }) => moment(issued_at) },
      ],
      documents,
    ),
  )
}

/** One policy with its money and its claims, and what can be done about each. */
export const policyPage: Page = {
  address: '/console/organisations/:organisation_id/policies/:id',
  show: async (asked) => {
    const { me, organisation, path, url, read, now, past } = asked
    const organisation_id = organisation?.id ?? ''
    const of = `organisation_id=${organisation_id}`
    const policy_id = path['id'] ?? ''
    const [{ data: policy }, moments, events, premiums, claims] = await Promise.all([
      read(`/admin/v1/policies/${policy_id}/record?${of}`, z.object({ data: Policy })),
      pastForm(asked, `policy-${policy_id}`),
      happened({ now, url }, `/admin/v1/policies/${policy_id}/timeline`, { organisation_id: organisation?.id ?? '' }),
      premiumsOf({ organisation_id, policy_id, me, now }),
      claimsOf({ organisation_id, policy_id, me, now }),
    ])
    const acts = me.roles.includes('policies') && !past ? actsOf(policy, organisation_id) : []
    const opening = me.roles.includes('claims') && !past && openClaim(policy, organisation_id)
    return {
      title: nameOf(policy.customer) || policy.policy_number,
      about: `policy ${policy.policy_number}`,
      main: h(
        'div',
        { class: 'record' },
        h(
          'div',
          {},
          moments,
          known(policy),
          coversOf(policy),
          premiums,
          claims,
          documentsOf(policy, organisation_id, me.roles),
        ),
        h('div', {}, (acts.length > 0 || opening !== false) && section('What next', acts.map(act), opening), events),
      ),
    }
  },
}
