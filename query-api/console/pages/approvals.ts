import { z } from 'zod'
import { Act as ActName, ProposedChange } from '#domain/approvals/events.ts'
import { Proposal, ProposalStatus, rolesOfAct } from '#domain/approvals/record.ts'
import type { UserRole } from '#domain/values.ts'
import { act, choicesOf } from '../act.ts'
import { changeTable } from '../change-table.ts'
import { idAsName, userNames, type List, type Part } from '../list.ts'
import { apiOf, pageOf, type Page, type SignedIn } from '../page.ts'
import { badge, empty, facts, label, link, moment, more, section, text, type Tone } from '../show.ts'

const tones: Readonly<Record<string, Tone>> = { waiting: 'wait', done: 'good', rejected: 'bad', voided: 'bad' }

export const approvals: List<typeof Proposal> = {
  title: 'Approvals',
  path: 'approvals',
  api: 'approvals',
  item: Proposal,
  names: userNames,
  filters: [
    { name: 'status', label: 'Status', choices: choicesOf(ProposalStatus.options) },
    { name: 'act', label: 'Act', choices: choicesOf(ActName.options) },
  ],
  none: 'Nothing was proposed yet. Acts wait here where the organisation asks for a second user.',
  work: { waiting_approvals: 'waiting' },
  columns: (organisation_id, nameOf = idAsName) => [
    { title: 'Act', show: ({ id, title }) => link(pageOf(organisation_id, `approvals/${id}`), title) },
    { title: 'Status', show: ({ status }) => badge(status, tones[status]) },
    { title: 'Proposed by', show: ({ proposed_by: { type, id } }) => (type === 'user' ? nameOf(id ?? '') : text(id)) },
    { title: 'Proposed', show: ({ proposed_at }) => moment(proposed_at) },
    { title: 'Ends', show: ({ expires_at }) => moment(expires_at) },
  ],
}

type Proposed = Pick<z.output<typeof Proposal>, 'act' | 'proposed_by'>

const isOwn = ({ proposed_by }: Proposed, me: SignedIn): boolean => proposed_by.id === me.id

const approversOf = ({ act: name }: Proposed): readonly UserRole[] => rolesOfAct[name]

const mayApprove = (proposal: Proposed, me: SignedIn): boolean =>
  !isOwn(proposal, me) && me.roles.some((role) => approversOf(proposal).includes(role))

/** Proposals that wait: for the approval of whoever looks, or of somebody else. */
export const waitingApprovals = (me: SignedIn): Part<typeof Proposal> => ({
  title: (rows) =>
    rows.length === 0 || rows.some((each) => mayApprove(each, me))
      ? 'Waiting for your approval'
      : 'Waiting for the approval of others',
  list: {
    ...approvals,
    columns: (...given) => [
      ...approvals.columns(...given),
      {
        title: 'Who may approve',
        show: (each) => {
          if (isOwn(each, me)) return 'a colleague, since you proposed it'
          return mayApprove(each, me) ? 'you' : `the roles ${approversOf(each).join(', ')}`
        },
      },
    ],
  },
  narrowed: { status: 'waiting' },
  none: 'Nothing waits for your approval.',
})

const Changes = z.object({ data: z.array(ProposedChange), next_cursor: z.string().nullable() })

const WithReasons = Proposal.extend({
  reason: z.string().nullable(),
  rejection_reason: z.string().nullable(),
  proposed_by_name: z.string().nullable(),
  decided_by_name: z.string().nullable(),
})

const proposerOf = ({ proposed_by: { id }, proposed_by_name }: z.infer<typeof WithReasons>): string =>
  proposed_by_name ?? `a program with the key ${id ?? ''}`

/** One act that waits for a second user: what it would change, and the way to decide it. */
export const approvalPage: Page = {
  address: '/console/organisations/:organisation_id/approvals/:proposal_id',
  show: async ({ me, organisation, path, url, read }) => {
    const address = apiOf(organisation?.id ?? '', `approvals/${path['proposal_id'] ?? ''}`)
    const cursor = url.searchParams.get('cursor') ?? ''
    const [{ data: proposal }, { data: changes, next_cursor }] = await Promise.all([
      read(address, z.object({ data: WithReasons })),
      read(`${address}/changes?limit=200${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`, Changes),
    ])
    const isOfMe = isOwn(proposal, me)
    const mayDecide = proposal.status === 'waiting' && me.roles.some((role) => approversOf(proposal).includes(role))
    const reason = [{ name: 'reason', label: 'Reason', kind: 'lines' }] as const
    return {
      title: proposal.title,
      main: [
        facts([
          ['Status', badge(proposal.status, tones[proposal.status])],
          ['Act', label(proposal.act)],
          ['Proposed', moment(proposal.proposed_at)],
          ['Proposed by', isOfMe ? 'yourself' : proposerOf(proposal)],
          ['Ends', moment(proposal.expires_at)],
          ['Reason', text(proposal.reason)],
          ...(proposal.decided_at === null
            ? []
            : [['Decided', [moment(proposal.decided_at), ' ', proposal.decided_by_name]] as const]),
          ...(proposal.rejection_reason === null ? [] : [['Rejected because', proposal.rejection_reason] as const]),
          ...(proposal.because === null ? [] : [['Voided because', proposal.because] as const]),
        ]),
        mayDecide &&
          section(
            'Decide',
            isOfMe
              ? act({ title: 'Withdraw', method: 'POST', address: `${address}/withdraw` })
              : [
                  act({
                    title: 'Approve',
                    method: 'POST',
                    address: `${address}/approve`,
                    ask: `It is done a moment later: ${proposal.title}`,
                  }),
                  act({
                    title: 'Reject',
                    method: 'POST',
                    address: `${address}/reject`,
                    fields: reason,
                    tone: 'danger',
                  }),
                ],
          ),
        section(
          `What it would change: ${proposal.changes_count} values`,
          changes.length === 0 ? empty('It changes no value.') : changeTable(changes),
          more(url, next_cursor),
        ),
      ],
    }
  },
}
