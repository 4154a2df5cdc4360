import { describe, expect, test } from 'vitest'
import type { Actor } from '#domain/event.ts'
import type { ProposalEvent } from '#domain/approvals/events.ts'
import { fourEyes, isLooser } from '#domain/approvals/four-eyes.ts'
import { proposal } from '#domain/approvals/proposal.ts'
import { proposedChanges } from '#domain/approvals/proposed-changes.ts'
import { evolveProposal, isOpen, noFourEyes, rolesOfAct, type Proposal } from '#domain/approvals/record.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'
import { proposalEvents } from '#domain/approvals/events.ts'
import { sampleEvent } from '../stored-events/samples.ts'

const made = { ...sampleEvent(proposalEvents, 'ProposalMade'), key_made_by: [] as Actor[] | null }
const proposer = made.proposed_by
const proposerId = 'e4000000-0000-4000-8000-000000000001' as never
const other = 'e4000000-0000-4000-8000-000000000002' as never
const { proposal_id, stream, expires_at, customer_id } = made
const before = '2027-01-06T10:01:59.999Z'
const approved: ProposalEvent = { type: 'ProposalApproved', stream, approved_by: other }
const approve = { type: 'Approve', by: other, key_made_by: [], now: before } as const
const by = { type: 'user', id: other } as const
const third = 'e4000000-0000-4000-8000-000000000005' as never
const done: ProposalEvent = { type: 'ProposalDone', proposal_id }
const rejectedByOther: ProposalEvent = { type: 'ProposalRejected', rejected_by: by, note: 'Not ours.', customer_id }

describe('a proposal', () => {
  const scenario = scenariosOf(proposal)
  const { type: _type, ...proposed } = made

  scenario('is made', { given: [], when: { type: 'Propose', ...proposed }, then: [made] })
  scenario('is made once', { given: [made], when: { type: 'Propose', ...proposed }, then: [] })
  scenario('is approved by another user', { given: [made], when: approve, then: [approved] })
  scenario('is approved once', { given: [made, approved], when: approve, then: [] })
  scenario('is approved once, also when it is done', { given: [made, approved, done], when: approve, then: [] })
  scenario('409: a third user does not approve what was approved', {
    given: [made, approved],
    when: { ...approve, by: third },
    then: rejected('conflict', undefined, 'This proposal is approved.'),
  })
  scenario('409: nobody approves what they have rejected', {
    given: [made, rejectedByOther],
    when: approve,
    then: rejected('conflict', undefined, 'This proposal is rejected.'),
  })
  scenario('404: nobody decides what nobody has proposed', {
    given: [],
    when: approve,
    then: rejected('not_found', undefined, 'proposal'),
  })
  scenario('403: who may have proposed it learns nothing else, also when it was approved', {
    given: [{ ...made, key_made_by: [{ type: 'user', id: third }] }, approved],
    when: { ...approve, by: third },
    then: rejected('forbidden', undefined, 'You have made the key'),
  })
  scenario('403: not by who has proposed it', {
    given: [made],
    when: { ...approve, by: proposerId },
    then: rejected('forbidden', undefined, 'Another user'),
  })
  const first = { type: 'operator', id: 'OPERATOR_KEY' } as const
  const owner = { type: 'user', id: 'e4000000-0000-4000-8000-000000000003' } as const
  scenario('403: not with a key that its proposer has made', {
    given: [made],
    when: { ...approve, key_made_by: [by, proposer] },
    then: rejected('forbidden', undefined, 'rotate'),
  })
  scenario('403: not by who has made the key that it was proposed with', {
    given: [{ ...made, key_made_by: [by] }],
    when: approve,
    then: rejected('forbidden', undefined, 'You have made the key'),
  })
  scenario('403: not where one colleague has made the keys of both', {
    given: [{ ...made, key_made_by: [owner] }],
    when: { ...approve, key_made_by: [owner] },
    then: rejected('forbidden', undefined, 'rotate'),
  })
  scenario('403: not where a program has made the keys of both, be it with two of its keys', {
    given: [{ ...made, key_made_by: [{ ...first, id: 'nightly' }] }],
    when: { ...approve, key_made_by: [first] },
    then: rejected('forbidden', undefined, 'rotate'),
  })
  scenario('where a program has made the key of one, and a colleague that of the other, it is approved', {
    given: [{ ...made, key_made_by: [first] }],
    when: { ...approve, key_made_by: [owner] },
    then: [approved],
  })
  scenario('409: not where nobody knows who made the key that it was proposed with', {
    given: [{ ...made, key_made_by: null }],
    when: approve,
    then: rejected('conflict', undefined, 'Nobody knows'),
  })
  scenario('403: not with a key that a program has made, where a program has proposed it', {
    given: [{ ...made, proposed_by: { ...first, id: 'nightly' } }],
    when: { ...approve, key_made_by: [first] },
    then: rejected('forbidden', undefined, 'rotate'),
  })
  scenario('409: not when it has expired', {
    given: [made],
    when: { ...approve, now: expires_at },
    then: rejected('conflict', undefined, 'expired'),
  })
  scenario('expires then', {
    given: [made],
    when: { type: 'Expire', now: expires_at },
    then: [{ type: 'ProposalExpired', proposal_id }],
  })
  scenario('and not before', { given: [made], when: { type: 'Expire', now: before }, then: [] })
  scenario('does not expire once it was approved', {
    given: [made, approved],
    when: { type: 'Expire', now: expires_at },
    then: [],
  })
  scenario('is rejected by another', {
    given: [made],
    when: { type: 'Reject', by, note: null },
    then: [{ type: 'ProposalRejected', rejected_by: by, note: null, customer_id }],
  })
  scenario('is rejected with a reason, and once', {
    given: [made, rejectedByOther],
    when: { type: 'Reject', by, note: 'Not ours.' },
    then: [],
  })
  scenario('is rejected with the reason that is given', {
    given: [made],
    when: { type: 'Reject', by, note: 'Not ours.' },
    then: [rejectedByOther],
  })
  scenario('409: is not rejected by a second', {
    given: [made, rejectedByOther],
    when: { type: 'Reject', by: { type: 'user', id: third }, note: null },
    then: rejected('conflict', undefined, 'This proposal is rejected.'),
  })
  scenario('403: is not rejected by who has proposed it', {
    given: [made],
    when: { type: 'Reject', by: proposer, note: null },
    then: rejected('forbidden', undefined, 'Withdraw it'),
  })
  scenario('409: is not rejected once it was approved', {
    given: [made, approved],
    when: { type: 'Reject', by, note: null },
    then: rejected('conflict', undefined, 'approved'),
  })
  scenario('is withdrawn by who has proposed it', {
    given: [made],
    when: { type: 'Withdraw', by: proposer },
    then: [{ type: 'ProposalWithdrawn', withdrawn_by: proposer }],
  })
  scenario('is withdrawn once', {
    given: [made, { type: 'ProposalWithdrawn', withdrawn_by: proposer }],
    when: { type: 'Withdraw', by: proposer },
    then: [],
  })
  scenario('409: is not withdrawn once it was approved', {
    given: [made, approved],
    when: { type: 'Withdraw', by: proposer },
    then: rejected('conflict', undefined, 'This proposal is approved.'),
  })
  scenario('409: is not withdrawn by its proposer once another has rejected it', {
    given: [made, rejectedByOther],
    when: { type: 'Withdraw', by: proposer },
    then: rejected('conflict', undefined, 'This proposal is rejected.'),
  })
  scenario('403: and by nobody else', {
    given: [made],
    when: { type: 'Withdraw', by },
    then: rejected('forbidden', undefined, 'reject'),
  })
  scenario('is void when what it would change has changed', {
    given: [made],
    when: { type: 'Void', found: 'waiting', because: 'It has changed.' },
    then: [{ type: 'ProposalVoided', because: 'It has changed.' }],
  })
  scenario('is not void by what its own approval has changed meanwhile', {
    given: [made, approved],
    when: { type: 'Void', found: 'waiting', because: 'It has changed.' },
    then: [],
  })
  scenario('is void when it cannot be done once it was approved', {
    given: [made, approved],
    when: { type: 'Void', found: 'approved', because: 'It has changed.' },
    then: [{ type: 'ProposalVoided', because: 'It has changed.' }],
  })
  scenario('is done once it was approved', { given: [made, approved], when: { type: 'Finish' }, then: [done] })
  scenario('is done once', { given: [made, approved, done], when: { type: 'Finish' }, then: [] })
  scenario('is not done before', { given: [made], when: { type: 'Finish' }, then: [] })
})

describe('what is shown of a proposal', () => {
  const at = (day: number) => ({ occurred_at: `2026-12-${day}T10:00:00.000Z` })
  const after = (...events: readonly ProposalEvent[]) =>
    events.reduce<Proposal | undefined>(
      (before, event, index) => evolveProposal(before, event, at(24 + index)),
      undefined,
    )
  const waiting = {
    id: proposal_id,
    organisation_id: made.organisation_id,
    act: made.act,
    title: made.title,
    stream,
    changes: made.changes,
    changes_count: made.changes_count,
    proposed_by: proposer,
    proposed_at: at(24).occurred_at,
    expires_at,
    status: 'waiting',
    decided_by: null,
    decided_at: null,
    because: null,
  }
  const decidedOn = (day: number) => ({ decided_at: at(day).occurred_at })
  const voided: ProposalEvent = { type: 'ProposalVoided', because: 'It has changed.' }

  test.each<[string, readonly ProposalEvent[], Partial<Proposal>]>([
    ['waiting', [], {}],
    ['approved', [approved], { decided_by: by, ...decidedOn(25) }],
    ['done', [approved, done], { decided_by: by, ...decidedOn(25) }],
    ['rejected', [rejectedByOther], { decided_by: by, ...decidedOn(25) }],
    ['withdrawn', [{ type: 'ProposalWithdrawn', withdrawn_by: proposer }], { decided_by: proposer, ...decidedOn(25) }],
    ['voided', [voided], { because: 'It has changed.', ...decidedOn(25) }],
    ['voided', [approved, voided], { because: 'It has changed.', decided_by: by, ...decidedOn(25) }],
    ['expired', [{ type: 'ProposalExpired', proposal_id }], decidedOn(25)],
  ])('%s: who has decided it, and when', (status, events, shown) => {
    expect(after(made, ...events)).toEqual({ ...waiting, ...shown, status })
    expect(stateOf(proposal, [made, ...events])?.record.status).toBe(status)
  })

  test('nothing, of what was never proposed', () => {
    expect(after(approved)).toBeUndefined()
    expect(stateOf(proposal, [approved])).toBeUndefined()
    expect(proposal.category).toBe('proposal')
  })

  test('it may still be done while it waits, and until it is', () => {
    const open = ['waiting', 'approved', 'done', 'rejected', 'withdrawn', 'voided', 'expired'] as const
    expect(open.filter((status) => isOpen({ status }))).toEqual(['waiting', 'approved'])
  })

  test('whoever may do an act may approve it', () => {
    expect(rolesOfAct).toEqual({
      release: ['owner'],
      rate_table: ['owner'],
      payment_account: ['owner'],
      sign_in_provider: ['owner'],
      refund: ['finance'],
      erasure: ['owner', 'policies'],
      four_eyes: ['owner'],
    })
  })
})

describe('the changes of a proposal', () => {
  const paths = (count: number) => Array.from({ length: count }, (_, index) => `cells.${'x'.repeat(42)}.${index}`)
  const given = (count: number) => paths(count).map((path) => ({ path, before: 10_000, after: undefined }))

  test('are kept, all of them, for as many rates as a table may have', () => {
    const kept = proposedChanges(given(50_000))

    expect(kept).toHaveLength(50_000)
    expect(kept[0]).toEqual({ path: paths(1)[0], before: 10_000, after: null })
  })
  test('409: are not kept when they are too many', () => {
    const message = expect.stringContaining('60000 values') as unknown
    expect(() => proposedChanges(given(60_000))).toThrow(expect.objectContaining({ code: 'conflict', message }))
  })
  test('are shown with it up to the 500th', () => {
    const changes = proposedChanges(given(501))
    const state = stateOf(proposal, [{ ...made, changes, changes_count: 501 }])

    expect(state?.record.changes).toEqual(changes.slice(0, 500))
    expect(state?.record.changes_count).toBe(501)
  })
})

describe('the rule', () => {
  const organisation_id = made.organisation_id
  const rule = { ...noFourEyes, release: true, refund_above_pence: 1_000 }

  scenariosOf(fourEyes)('is set', {
    given: [],
    when: { type: 'SetFourEyes', organisation_id, rule },
    then: [{ type: 'FourEyesSet', organisation_id, rule }],
  })
  scenariosOf(fourEyes)('is set once', {
    given: [{ type: 'FourEyesSet', organisation_id, rule }],
    when: { type: 'SetFourEyes', organisation_id, rule },
    then: [],
  })

  const { sign_in_provider: _unknown, ...ofFewerActs } = rule
  scenariosOf(fourEyes)('that was proposed to a version before asks for no act that it did not know', {
    given: [],
    when: { type: 'SetFourEyes', organisation_id, rule: ofFewerActs as typeof rule },
    then: [{ type: 'FourEyesSet', organisation_id, rule }],
  })

  scenariosOf(fourEyes)('that asks for nothing is the one of who has set none', {
    given: [],
    when: { type: 'SetFourEyes', organisation_id, rule: noFourEyes },
    then: [],
  })
  test('asks for nothing before it is set', () => {
    const nothing = {
      release: false,
      rate_table: false,
      payment_account: false,
      sign_in_provider: false,
      refund_above_pence: null,
      erasure: false,
    }
    expect(noFourEyes).toEqual(nothing)
    expect(fourEyes.category).toBe('four_eyes')
  })
  const all = {
    release: true,
    rate_table: true,
    payment_account: true,
    sign_in_provider: true,
    refund_above_pence: 0,
    erasure: true,
  }
  test.each(['release', 'rate_table', 'payment_account', 'sign_in_provider', 'erasure'] as const)(
    'asks less often without %s, and not with it',
    (name) => {
      expect(isLooser({ ...all, [name]: false }, all)).toBe(true)
      expect(isLooser(all, { ...all, [name]: false })).toBe(false)
      expect(isLooser({ ...all, [name]: false }, { ...all, [name]: false })).toBe(false)
    },
  )
  test('asks less often with a limit, where there was none it asks for more', () => {
    expect(isLooser(noFourEyes, { ...noFourEyes, refund_above_pence: 5 })).toBe(true)
    expect(isLooser({ ...noFourEyes, refund_above_pence: 5 }, noFourEyes)).toBe(false)
    expect(isLooser(noFourEyes, noFourEyes)).toBe(false)
  })

  test.each([
    [{ release: false }, true],
    [{ refund_above_pence: 1_001 }, true],
    [{ refund_above_pence: null }, true],
    [{ refund_above_pence: 999 }, false],
    [{ erasure: true }, false],
    [{}, false],
  ])('asks for a second user less often with %j: %s', (change, looser) => {
    expect(isLooser({ ...rule, ...change }, rule)).toBe(looser)
  })
})
