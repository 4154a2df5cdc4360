import { describe, expect, test } from 'vitest'
import { previewOf } from '#domain/policies/preview.ts'
import { policy, type PolicyCommand } from '#domain/policies/policy.ts'
import { active, collected, due, requested } from '../premiums/premium-builders.ts'
import { stateOf } from '../scenario.ts'
import { everyDay } from './calendars.ts'

/** A policy of £28.75 a month, of which the premium of 15 February was collected. */
const state = stateOf(policy, [...active, due, requested, collected]) ?? expect.fail('There is no policy.')

const preview = (command: PolicyCommand) =>
  previewOf(command, state, { now: '2026-02-20T09:00:00.000Z', calendar: everyDay })

const next = [
  { due_on: '2026-03-15', amount_pence: 2875 },
  { due_on: '2026-04-15', amount_pence: 2875 },
  { due_on: '2026-05-15', amount_pence: 2875 },
]

describe('the preview', () => {
  test('of a cancellation within the cooling-off period: all is given back, and no premium follows', () => {
    const shown = preview({ type: 'CancelPolicy', reason: 'cooling_off', note: null, today: '2026-02-20' })

    expect(shown.before).toMatchObject({ status: 'active', collections: next })
    expect(shown.after).toMatchObject({ status: 'cancelled', collections: [] })
    expect(shown.after.covers[0]).toMatchObject({ status: 'ended', ends_on: '2026-02-20' })
    expect(shown.refund_pence).toBe(2875)
    expect(shown.refunds).toMatchObject([{ due_on: '2026-02-15', refund_pence: 2875 }])
  })

  test('of a suspension: the cover rests, and premiums are collected as before', () => {
    const shown = preview({ type: 'SuspendPolicy' })

    expect(shown.after).toMatchObject({ status: 'suspended', collections: next })
    expect(shown).toMatchObject({ is_new: true, refund_pence: 0, refunds: [], written_off: [], claim_pence: null })
  })

  test('of an amendment: the amount and the premium before and after, from the next premium on', () => {
    const components = [{ cover_index: 0, cover_amount_pence: 20_000_000, premium_pence: 2000 }]
    const asked = { collection_day: null, collection_days: [15], note: null, now: '2026-02-20T09:00:00.000Z' }
    const shown = preview({ type: 'AmendPolicy', components, calendar: everyDay, ...asked })

    expect(shown.before.covers[0]).toMatchObject({ cover_amount_pence: 25_000_000, premium_pence: 2725 })
    expect(shown.after.covers[0]).toMatchObject({ cover_amount_pence: 20_000_000, premium_pence: 2000 })
    expect(shown.after.collections.map(({ amount_pence }) => amount_pence)).toEqual([2150, 2150, 2150])
  })

  test('of what is so already: nothing would change', () => {
    const { is_new, before, after } = preview({ type: 'ReinstatePolicy', now: state.updated_at, calendar: everyDay })

    expect(is_new).toBe(false)
    expect(after).toEqual(before)
  })
})
