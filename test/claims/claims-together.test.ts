import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ClaimId } from '#domain/claims/events.ts'
import { policy, type PolicyCommand } from '#domain/policies/policy.ts'
import type { PolicyStreamEvent } from '#domain/policies/record.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import { Rejection } from '#domain/rejection.ts'
import { bound } from '../premiums/premium-builders.ts'

/** Any covers, any claims on one or on all of a type: as much is approved as some division among them can pay, and no more. */

const today = '2029-05-10'

const Cover = fc.record({
  cover_type: fc.constantFrom('life', 'critical_illness'),
  basis: fc.constantFrom('additional', 'accelerated'),
  pence: fc.integer({ min: 1, max: 3 }),
  expires_on: fc.constantFrom(null, '2026-06-01', '2027-06-01', '2028-06-01'),
})
const Claimed = fc.record({
  claim_type: fc.constantFrom('life', 'critical_illness'),
  cover_index: fc.constantFrom(null, 0, 1, 2, 3),
  happened_on: fc.constantFrom('2026-05-01', '2026-06-01', '2026-07-01', '2027-06-01', '2027-07-01', '2028-07-01'),
  pence: fc.integer({ min: 1, max: 6 }),
})

type Cover = typeof Cover extends fc.Arbitrary<infer Value> ? Value : never
type Paid = { readonly pence: number; readonly from: readonly number[] }

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

/** Looks at every set of covers there is: what is paid of nothing else is no more than these pay. */
const canPay = (covers: readonly Cover[], paid: readonly Paid[]): boolean => {
  const life = sum(covers.filter(({ cover_type }) => cover_type === 'life').map(({ pence }) => pence))
  const isOfLife = ({ cover_type, basis }: Cover) => cover_type === 'life' || (life > 0 && basis === 'accelerated')
  return Array.from({ length: 2 ** covers.length }, (_, chosen) => {
    const isChosen = (index: number) => Math.floor(chosen / 2 ** index) % 2 === 1
    const some = covers.filter((_cover, index) => isChosen(index))
    const ofLife = sum(some.filter(isOfLife).map(({ pence }) => pence))
    const others = sum(some.filter((cover) => !isOfLife(cover)).map(({ pence }) => pence))
    return (
      sum(paid.filter(({ from }) => from.every(isChosen)).map(({ pence }) => pence)) <= others + Math.min(life, ofLife)
    )
  }).every(Boolean)
}

const sold = (covers: readonly Cover[]): PolicyState | undefined => {
  const [sample] = bound.components
  if (!sample) throw new Error('The sample covers nothing.')
  const components = covers.map(({ cover_type, basis, pence, expires_on }, cover_index) => ({
    ...sample,
    cover_index,
    cover_type,
    ci_payout_basis: basis,
    cover_amount_pence: pence,
    expires_on,
  }))
  const given: readonly PolicyStreamEvent[] = [
    { ...bound, components, end_date: null },
    { type: 'PolicyActivated', start_date: '2026-02-02' },
  ]
  return given.reduce(evolve, policy.initialState)
}

const evolve = (state: PolicyState | undefined, event: PolicyStreamEvent) =>
  policy.evolve(state, event, { occurred_at: '2026-02-02T00:00:00.000Z' })

/** Undefined: it is refused. */
const after = (state: PolicyState | undefined, command: PolicyCommand): PolicyState | undefined => {
  try {
    return policy.decide(command, state).reduce(evolve, state)
  } catch (error) {
    if (error instanceof Rejection) return undefined
    throw error
  }
}

test('as much is approved as the covers can pay together, and no more', () =>
  fc.assert(
    fc.property(
      fc.array(Cover, { minLength: 1, maxLength: 4 }),
      fc.array(Claimed, { minLength: 1, maxLength: 5 }),
      (covers, claims) => {
        let state = sold(covers)
        const paid: Paid[] = []
        for (const [number, { pence, ...claimed }] of claims.entries()) {
          const claim_id = ClaimId.parse(`b4000000-0000-5000-8000-00000000000${number}`)
          const opened = after(state, { type: 'OpenClaim', claim_id, ...claimed, amount_pence: 1, note: null, today })
          if (!opened) continue
          const from = [...covers.keys()].filter((index) => {
            const { cover_type, expires_on } = covers[index] ?? {}
            const isMeant = claimed.cover_index === null || claimed.cover_index === index
            return isMeant && cover_type === claimed.claim_type && claimed.happened_on < (expires_on ?? today)
          })
          const approved = after(opened, {
            type: 'DecideClaim',
            claim_id,
            decision: 'approve',
            amount_pence: pence,
            note: null,
            ends_policy: false,
            today,
          })
          expect(approved !== undefined).toBe(canPay(covers, [...paid, { pence, from }]))
          if (approved) paid.push({ pence, from })
          state = approved ?? opened
        }
      },
    ),
    { numRuns: 2_000 },
  ))
