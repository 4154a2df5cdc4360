import fc from 'fast-check'
import { expect, test } from 'vitest'
import { accounts, type DayTotals } from '#domain/ledger/record.ts'
import { disputedPence, refundedPence } from '#domain/payments/payment.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { shareOfHistories } from '../premiums/histories.ts'
import { finish, step, take } from '../premiums/settle-steps.ts'
import { bankHolds, openSettleWorld, type SettleWorld } from '../premiums/settle-world.ts'
import { sampleEvent } from '../stored-events/samples.ts'
import { imbalanceOf, ledgerRows } from './ledger-rows.ts'

const bound = sampleEvent(policyEvents, 'PolicyBound', 2)
const policy = `policy-${bound.policy_id}`

/** The ledger of all that a world has stored so far. */
const openLedger = ({ journal, policy: { card_payment_id } }: SettleWorld) => {
  const ledger = ledgerRows()
  let posted = 0
  ledger.post({ ...bound, card_payment_id }, policy)
  const catchUp = (): void => {
    for (const event of journal.slice(posted))
      for (const entry of ledger.post(event, event.type.startsWith('Payment') ? streamOf(event) : policy))
        expect(imbalanceOf(entry)).toBe(0)
    posted = journal.length
  }
  return { ...ledger, catchUp }
}

const streamOf = (event: SettleWorld['journal'][number]): string =>
  'payment_id' in event ? `payment-${event.payment_id}` : policy

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0)

/** What the provider holds of the payments, as far as it was told. */
const notedOf = (world: SettleWorld): number =>
  sum(world.known().payments.map((each) => each.captured_pence - refundedPence(each) - disputedPence(each)))

test.each([
  ['a card', true],
  ['Direct Debit', false],
])(
  'whatever happens to a premium that is paid by %s, each entry balances, and the ledger has what the provider holds',
  (_how, isByCard) => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 3, maxLength: 30 }), (steps) => {
        const world = openSettleWorld(isByCard)
        const ledger = openLedger(world)
        for (const [count, each] of steps.entries()) {
          take(world, each, count)
          ledger.catchUp()
          expect(ledger.balance('provider_balance')).toBe(notedOf(world))
          if (world.premium().status === 'written_off') expect(ledger.balance('receivable')).toBe(0)
        }
        finish(world)
        ledger.catchUp()
        expect(ledger.balance('provider_balance')).toBe(sum(world.bank.map(bankHolds)))
        // The totals of the days are those of the entries.
        const days = [...ledger.rows().values()].filter(({ part }) => part === 'day')
        for (const account of accounts) {
          const sides = days.map(({ document }) => (document as DayTotals)['GBP live']?.[account] ?? [0, 0])
          expect(sum(sides.map(([debit, credit]) => debit - credit))).toBe(ledger.balance(account))
        }
      }),
      { numRuns: shareOfHistories(0.1, 120) },
    )
  },
)
