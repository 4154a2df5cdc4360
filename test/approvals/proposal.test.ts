import { describe, expect, test } from 'vitest'
import type { Actor } from '#domain/event.ts'
import type { ProposalEvent } from '#domain/approvals/events.ts'
import { fourEyes, isLooser } from '#domain/approvals/four-eyes.ts'
import { proposal } from '#domain/approvals/proposal.ts'
import { proposedChanges } from '#domain/approvals/proposed-changes.ts'
import { noFourEyes } from '#domain/approvals/record.ts'
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

describe('a proposal', () => {
  const scenario = scenariosOf(proposal)
  const { type: _type, ...proposed } = made

  scenario('is made once', { given: [made], when: { type: 'Propose', ...proposed }, then: [] })
  scenario('is approved by another user', { given: [made], when: approve, then: [approved] })
  scenario('is approved once', { given: [made, approved], when: approve, then: [] })
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
  scenario('is done once it was approved, and done once', {
    given: [made, approved],
    when: { type: 'Finish' },
    then: [{ type: 'ProposalDone', proposal_id }],
  })
  scenario('is not done before', { given: [made], when: { type: 'Finish' }, then: [] })
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
    expect(() => proposedChanges(given(60_000))).toThrow('60000 values')
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
