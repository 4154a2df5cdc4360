import { expect, test } from 'vitest'
import { ClaimId, type ClaimEvent } from '#domain/claims/events.ts'
import { Claim, evolveClaims } from '#domain/claims/record.ts'
import { CustomerId } from '#domain/values.ts'

const about = {
  claim_id: ClaimId.parse('b4000000-0000-5000-8000-000000000001'),
  claim_type: 'life',
  customer_id: CustomerId.parse('c0000000-0000-4000-8000-000000000001'),
  amount_pence: 25_000_000,
  note: null,
} as const
const opened: ClaimEvent = { type: 'ClaimOpened', ...about, cover_index: 0, happened_on: '2026-05-01' }
const another = { ...about, claim_id: ClaimId.parse('b4000000-0000-5000-8000-000000000002') }
const day = (number: number) => `2026-05-${String(number).padStart(2, '0')}T12:00:00.000Z`

const after = (...events: readonly ClaimEvent[]) =>
  events.reduce<readonly Claim[]>(
    (claims, event, index) => evolveClaims(claims, event, { occurred_at: day(index + 1) }),
    [],
  )

const statusAfter = [
  ['ClaimEvidenceRequested', 'evidence_requested'],
  ['ClaimApproved', 'approved'],
  ['ClaimDeclined', 'declined'],
  ['ClaimClosed', 'closed'],
  ['ClaimReopened', 'open'],
] as const

test.each(statusAfter)('after %s a claim is %s', (type, status) => {
  const [claim] = after(opened, { type, ...about })

  expect(Claim.parse(claim)).toMatchObject({ status, paid_on: null, opened_at: day(1), updated_at: day(2) })
})

test('a claim that is paid says on which day, also once it is closed', () => {
  const paid: ClaimEvent = { type: 'ClaimPaid', ...about, paid_on: '2026-05-02' }

  expect(Claim.parse(after(opened, paid)[0])).toMatchObject({ status: 'paid', paid_on: '2026-05-02' })
  expect(after(opened, paid, { type: 'ClaimClosed', ...about })[0]).toMatchObject({
    status: 'closed',
    paid_on: '2026-05-02',
  })
})

test('a claim keeps what the team wrote last, and shows what was approved', () => {
  const noted: ClaimEvent = { type: 'ClaimEvidenceRequested', ...about, note: 'A letter of the doctor.' }
  const approved: ClaimEvent = { type: 'ClaimApproved', ...about, amount_pence: 10_000_000 }

  expect(after(opened, noted, approved)[0]).toMatchObject({
    note: 'A letter of the doctor.',
    amount_pence: 10_000_000,
  })
})

test('what is decided about one claim leaves the others of the policy as they are', () => {
  const claims = after(opened, { ...opened, ...another }, { type: 'ClaimDeclined', ...another })

  expect(claims.map(({ claim_id, status }) => [claim_id, status])).toEqual([
    [about.claim_id, 'open'],
    [another.claim_id, 'declined'],
  ])
})

test('what is decided about a claim that was never opened opens none', () => {
  expect(after({ type: 'ClaimDeclined', ...about })).toEqual([])
})
