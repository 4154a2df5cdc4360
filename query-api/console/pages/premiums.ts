import { z } from 'zod'
import { Premium, PremiumStatus } from '#domain/premiums/record.ts'
import { act, choicesOf, type Act, type Field } from '../act.ts'
import type { List } from '../list.ts'
import { ofPolicy } from '../../policy-of.ts'
import { apiOf, pageOf, type Asked } from '../page.ts'
import {
  badge,
  day,
  empty,
  link,
  money,
  section,
  table,
  text,
  words,
  type Tone,
  pounds,
  saidDay,
  nameOf,
  shortId,
} from '../show.ts'
import { h, type View } from '../view.ts'

const ListedPremium = Premium.extend(ofPolicy)

const tones: Readonly<Record<string, Tone>> = { collected: 'good', failed: 'bad', written_off: 'bad' }

export const premiums: List<typeof ListedPremium> = {
  title: 'Premiums',
  path: 'premiums',
  api: '/admin/v1/premiums',
  item: ListedPremium,
  filters: [
    { name: 'status', label: 'Status', choices: choicesOf(PremiumStatus.options) },
    { name: 'since', label: 'From', isMoment: true },
    { name: 'until', label: 'Until', isMoment: true },
  ],
  none: 'No premium was due yet. The first falls due when a policy begins.',
  work: { failed_premiums: 'failed' },
  columns: (organisation_id) => [
    {
      title: 'Premium',
      show: ({ policy_id, premium_id, number }) =>
        link(`${pageOf(organisation_id, `policies/${policy_id}`)}#premium-${premium_id}`, `Number ${number}`),
    },
    { title: 'Person', show: ({ person }) => text(nameOf(person)) },
    { title: 'Policy', show: ({ policy_number, policy_id }) => policy_number ?? shortId(policy_id) },
    { title: 'Status', show: ({ status }) => badge(status, tones[status]) },
    { title: 'Amount', show: ({ amount_pence }) => money(amount_pence), isNumber: true },
    { title: 'Given back', show: ({ refunded_pence }) => money(refunded_pence), isNumber: true },
    { title: 'Due', show: ({ due_on }) => day(due_on) },
    { title: 'Because', show: ({ failure_code }) => text(failure_code === null ? null : words(failure_code)) },
  ],
}

const reason: Field = { name: 'reason', label: 'Reason', kind: 'lines', isRequired: true }

const actsOf = (
  { premium_id, status, amount_pence, refunded_pence, refunds }: Premium,
  policy: string,
): readonly Act[] => {
  const to = (path: string) => ({ method: 'POST', address: `${policy}/premiums/${premium_id}/${path}` }) as const
  const left = amount_pence - refunded_pence
  const ofRefunds = refunds
    .filter(({ status: refunded, is_left }) => refunded === 'owed' && is_left)
    .map((refund): Act => ({
      ...to(`refunds/${refund.refund_id}/retry`),
      title: 'Try the refund once more',
      fields: [reason],
    }))
  switch (status) {
    case 'collected':
      return left <= 0
        ? ofRefunds
        : [
            {
              ...to('refund'),
              title: 'Give a part back',
              isKeyed: true,
              isPreviewed: true,
              fields: [
                {
                  name: 'refund_pence',
                  label: 'Amount in pounds',
                  kind: 'pounds',
                  isRequired: true,
                  hint: `At most ${pounds(left)} is left of it.`,
                },
                reason,
              ],
              ask: 'The amount goes back to the account or card that paid it.',
            },
            {
              ...to('refund'),
              title: 'Give all of it back',
              isKeyed: true,
              isPreviewed: true,
              sends: { all: true },
              fields: [reason],
              tone: 'danger',
              ask: `${pounds(left)} goes back to the account or card that paid it.`,
            },
            ...ofRefunds,
          ]
    case 'failed':
      return [
        {
          ...to('retry'),
          title: 'Collect again now',
          fields: [reason],
          ask: `${pounds(amount_pence)} is asked for again.`,
        },
        {
          ...to('write_off'),
          title: 'Write off',
          fields: [reason],
          tone: 'danger',
          ask: `${pounds(amount_pence)} is asked for no more.`,
        },
      ]
    case 'due':
    case 'requested':
    case 'written_off':
      return ofRefunds
  }
}

type Of = Pick<Asked, 'me' | 'now'> & { readonly organisation_id: string; readonly policy_id: string }

/** The premiums of a policy, the latest first, with what can be done about each. */
export const premiumsOf = async ({ organisation_id, policy_id, me, now }: Of): Promise<View> => {
  const { data, next_cursor } = await now(
    `/admin/v1/premiums?organisation_id=${organisation_id}&policy_id=${policy_id}&limit=24`,
    z.object({ data: z.array(ListedPremium), next_cursor: z.string().nullable() }),
  )
  if (data.length === 0) return section('Premiums', empty('No premium was due yet.'))
  const address = apiOf(organisation_id, `policies/${policy_id}`)
  const acts = me.roles.includes('finance') ? data.map((premium) => ({ premium, given: actsOf(premium, address) })) : []
  return section(
    'Premiums',
    table(
      'Premiums',
      [{ title: 'Premium', show: ({ number }) => `Number ${number}` }, ...premiums.columns(organisation_id).slice(3)],
      data,
    ),
    next_cursor !== null && h('p', { class: 'quiet' }, 'The latest 24 are shown.'),
    acts
      .filter(({ given }) => given.length > 0)
      .map(({ premium, given }) =>
        h(
          'section',
          { id: `premium-${premium.premium_id}`, 'data-part': '', 'aria-label': `Premium ${premium.number}` },
          h(
            'h3',
            {},
            `Premium ${premium.number} of ${pounds(premium.amount_pence)}, due on ${saidDay(premium.due_on)}`,
          ),
          given.map((each) => act({ ...each, of: premium.premium_id })),
        ),
      ),
  )
}
