import { z } from 'zod'
import { Claim, ClaimStatus } from '#domain/claims/record.ts'
import type { Policy } from '#domain/policies/record.ts'
import { act, choicesOf, type Act, type Field } from '../act.ts'
import type { List } from '../list.ts'
import { ofPolicy } from '../../policy-of.ts'
import { apiOf, pageOf, type Asked } from '../page.ts'
import {
  badge,
  day,
  label,
  link,
  moment,
  money,
  section,
  table,
  text,
  type Tone,
  pounds,
  saidDay,
  nameOf,
  shortId,
} from '../show.ts'
import { h, type View } from '../view.ts'

const ListedClaim = Claim.extend(ofPolicy)

const tones: Readonly<Record<string, Tone>> = {
  open: 'wait',
  evidence_requested: 'wait',
  approved: 'wait',
  paid: 'good',
  declined: 'bad',
}

export const claims: List<typeof ListedClaim> = {
  title: 'Claims',
  path: 'claims',
  api: '/admin/v1/claims',
  item: ListedClaim,
  filters: [{ name: 'status', label: 'Status', choices: choicesOf(ClaimStatus.options) }],
  none: 'No claim was made yet. Claims are opened on the page of a policy.',
  work: { open_claims: 'open', approved_claims: 'approved' },
  columns: (organisation_id) => [
    {
      title: 'Claim',
      show: ({ policy_id, claim_id, claim_type }) =>
        link(`${pageOf(organisation_id, `policies/${policy_id}`)}#claim-${claim_id}`, label(claim_type)),
    },
    { title: 'Person', show: ({ person }) => text(nameOf(person)) },
    { title: 'Policy', show: ({ policy_number, policy_id }) => policy_number ?? shortId(policy_id) },
    { title: 'Status', show: ({ status }) => badge(status, tones[status]) },
    { title: 'Amount', show: ({ amount_pence }) => money(amount_pence), isNumber: true },
    { title: 'Happened', show: ({ happened_on }) => day(happened_on) },
    { title: 'Opened', show: ({ opened_at }) => moment(opened_at) },
    { title: 'Note', show: ({ note }) => text(note) },
  ],
}

const note: Field = { name: 'note', label: 'Note for the team', kind: 'lines' }
const neededNote: Field = { ...note, isRequired: true }
const amount: Field = { name: 'amount_pence', label: 'Amount in pounds', kind: 'pounds' }

const decisionsOf = ({ claim_id, status, amount_pence }: Claim, policy: string): readonly Act[] => {
  const to = { method: 'POST', address: `${policy}/claims/${claim_id}/decisions` } as const
  const evidence: Act = {
    ...to,
    title: 'Ask for evidence',
    sends: { decision: 'request_evidence' },
    fields: [neededNote],
  }
  const approve: Act = {
    ...to,
    title: 'Approve',
    isPreviewed: true,
    sends: { decision: 'approve' },
    fields: [amount, note],
    ask: 'The claim may then be paid.',
  }
  const decline: Act = {
    ...to,
    title: 'Decline',
    isPreviewed: true,
    sends: { decision: 'decline' },
    fields: [neededNote],
    tone: 'danger',
    ask: 'The claim is declined, and the reason is kept.',
  }
  const pay: Act = {
    ...to,
    title: 'Record the payment',
    isPreviewed: true,
    sends: { decision: 'pay' },
    fields: [amount, { name: 'ends_policy', label: 'Cover ends with it', kind: 'yes or no' }, neededNote],
    ask: `It is recorded that ${amount_pence === null ? 'the amount' : `${pounds(amount_pence)}, or the amount above,`} was paid.`,
  }
  switch (status) {
    case 'open':
    case 'evidence_requested':
      return [approve, evidence, decline]
    case 'approved':
      return [pay, decline]
    case 'declined':
    case 'paid':
    case 'closed':
      return [{ ...to, title: 'Open again', sends: { decision: 'reopen' }, fields: [neededNote] }]
  }
}

type Of = Pick<Asked, 'me' | 'now'> & { readonly organisation_id: string; readonly policy_id: string }

/** The claims on a policy, each with what can be decided. */
export const claimsOf = async ({ organisation_id, policy_id, me, now }: Of): Promise<View> => {
  const { data } = await now(
    `/admin/v1/claims?organisation_id=${organisation_id}&policy_id=${policy_id}&limit=50`,
    z.object({ data: z.array(ListedClaim) }),
  )
  if (data.length === 0) return null
  const address = apiOf(organisation_id, `policies/${policy_id}`)
  return section(
    'Claims',
    table(
      'Claims',
      claims.columns(organisation_id).filter(({ title }) => !['Claim', 'Person', 'Policy'].includes(title)),
      data,
    ),
    me.roles.includes('claims') &&
      data.map((claim) =>
        h(
          'section',
          {
            id: `claim-${claim.claim_id}`,
            'data-part': '',
            'aria-label': `${label(claim.claim_type)} of ${claim.happened_on}`,
          },
          h('h3', {}, `${label(claim.claim_type)} claim of ${saidDay(claim.happened_on)}`),
          decisionsOf(claim, address).map((decision) => act({ ...decision, of: claim.claim_id })),
        ),
      ),
  )
}

/** A claim on a policy, opened by the team. */
export const openClaim = ({ id, components }: Policy, organisation_id: string): View =>
  act({
    title: 'Open a claim',
    method: 'POST',
    address: apiOf(organisation_id, `policies/${id}/claims`),
    isKeyed: true,
    fields: [
      {
        name: 'claim_type',
        label: 'Cover',
        kind: 'choice',
        choices: choicesOf([...new Set(components.map(({ cover_type }) => cover_type))]),
        isRequired: true,
      },
      { name: 'happened_on', label: 'Happened on', kind: 'date', isRequired: true },
      amount,
      note,
    ],
  })
