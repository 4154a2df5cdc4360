import { z } from 'zod'
import { CancellationReason } from '#domain/policies/events.ts'
import { Policy, PolicyStatus } from '#domain/policies/record.ts'
import { act, choicesOf, type Act } from '../act.ts'
import type { List } from '../list.ts'
import { apiOf, pageOf, type Page } from '../page.ts'
import { badge, day, facts, label, link, money, section, table, text, words, type Tone, nameOf } from '../show.ts'
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

/** The effect of a cancellation on cover and money, as far as it is known before the reason is. */
const cancellationSays = ({ cooling_off_ends_on, policy_number }: Policy, today: string): string => {
  const ends = `${policy_number} ends today, and no further premium is asked for.`
  const isCoolingOff = cooling_off_ends_on !== null && today <= cooling_off_ends_on
  return isCoolingOff ? `${ends} With the reason “Cooling off”, and no other, all that was paid is given back.` : ends
}

const actsOf = (policy: Policy, organisation_id: string, today: string): readonly Act[] => {
  const to = (path: string) =>
    ({ method: 'POST', address: apiOf(organisation_id, `policies/${policy.id}/${path}`) }) as const
  const isOver = ['cancelled', 'expired', 'lapsed', 'claimed'].includes(policy.status)
  return [
    ...(policy.status === 'active'
      ? [
          {
            ...to('suspension'),
            title: 'Suspend the cover',
            ask: 'Cover and premiums rest until the policy is reinstated.',
          },
        ]
      : []),
    ...(policy.status === 'suspended' || policy.status === 'lapsed'
      ? [
          {
            ...to('reinstatement'),
            title: 'Reinstate the policy',
            ask: 'Cover begins again, and premiums are asked for.',
          },
        ]
      : []),
    ...(isOver
      ? []
      : [
          {
            ...to('cancellation'),
            title: 'Cancel the policy',
            tone: 'danger' as const,
            ask: cancellationSays(policy, today),
            fields: [
              {
                name: 'reason',
                label: 'Reason',
                kind: 'choice' as const,
                choices: choicesOf(CancellationReason.options),
                isRequired: true as const,
              },
              { name: 'note', label: 'Note for the team', kind: 'lines' as const, isRequired: true as const },
            ],
          },
        ]),
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

/** One policy with its money and its claims, and what can be done about each. */
export const policyPage: Page = {
  address: '/console/organisations/:organisation_id/policies/:id',
  show: async (asked) => {
    const { me, organisation, path, url, read, now, past, today } = asked
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
    const acts = me.roles.includes('policies') && !past ? actsOf(policy, organisation_id, today) : []
    const opening = me.roles.includes('claims') && !past && openClaim(policy, organisation_id)
    return {
      title: nameOf(policy.customer) || policy.policy_number,
      main: h(
        'div',
        { class: 'record' },
        h('div', {}, moments, known(policy), coversOf(policy), premiums, claims),
        h('div', {}, (acts.length > 0 || opening !== false) && section('What next', acts.map(act), opening), events),
      ),
    }
  },
}
