import { expect, test } from 'vitest'
import {
  amount_pence,
  captured,
  cardCharged,
  cardReturnClosed,
  cardReturned,
  cardReturnFailed,
  cardUsed,
  collected,
  dispute,
  due,
  dueByDebit,
  failed,
  made,
  owed,
  paidOtherwise,
  refunded,
  soldByCard,
  soldByDebit,
  told,
  toldLater,
  waived,
  writtenOff,
  type Posted,
} from './events.ts'
import { imbalanceOf, ledgerRows } from './ledger-rows.ts'

/** What stands on the accounts after what has happened. The sum of all is zero, as that of each entry. */

const after = (...events: readonly (Posted | readonly Posted[])[]) => {
  const ledger = ledgerRows()
  for (const { event, stream } of events.flat()) ledger.post(event, stream)
  expect(ledger.entries().map(imbalanceOf)).toEqual(ledger.entries().map(() => 0))
  return { balances: ledger.balances(), kinds: ledger.kinds() }
}

const byDebit = { by: 'direct_debit' } as const
const asked = [soldByDebit, dueByDebit]
const paid = [...asked, ...told(byDebit, captured)]
const rest = amount_pence - 1_000
const paidTwice = [...paid, ...told({ by: 'direct_debit', attempt: 2 }, captured), owed(amount_pence, 'paid_twice')]

test.each<readonly [string, readonly Posted[], Readonly<Record<string, number>>]>([
  ['a premium that is due is owed by the customer', asked, { receivable: 2_875, premiums: -2_875 }],
  ['what was collected is at the provider, and owed no more', paid, { provider_balance: 2_875, premiums: -2_875 }],
  [
    'a payment that the banks have refused moves nothing',
    [...asked, ...told(byDebit, { type: 'PaymentFailed', failure_code: 'insufficient_funds' })],
    { receivable: 2_875, premiums: -2_875 },
  ],
  [
    'a refund that is owed is a debt to the customer',
    [...paid, owed(1_000)],
    { provider_balance: 2_875, premiums: -2_875, premium_refunds: 1_000, refunds_payable: -1_000 },
  ],
  [
    'a refund that was made has left the provider, and is owed no more',
    [...asked, ...told(byDebit, captured, made(1_000)), owed(1_000), refunded(1_000)],
    { provider_balance: rest, premiums: -2_875, premium_refunds: 1_000 },
  ],
  [
    'a refund that came back is owed again',
    [...asked, ...told(byDebit, captured, made(1_000), failed(1_000)), owed(1_000)],
    { provider_balance: 2_875, premiums: -2_875, premium_refunds: 1_000, refunds_payable: -1_000 },
  ],
  [
    'what the firm has paid in another way has not left the provider',
    [...paid, owed(1_000), paidOtherwise(1_000)],
    { provider_balance: 2_875, premiums: -2_875, premium_refunds: 1_000, paid_otherwise: -1_000 },
  ],
  [
    'a refund that is owed no more leaves nothing',
    [...paid, owed(1_000), waived(1_000)],
    { provider_balance: 2_875, premiums: -2_875 },
  ],
  [
    'what was paid twice is owed back, and takes nothing from what was asked for',
    paidTwice,
    { provider_balance: 5_750, premiums: -2_875, refunds_payable: -2_875 },
  ],
  [
    'what was paid twice, and is owed to nobody, is a gain where losses stand',
    [...paidTwice, waived(amount_pence)],
    { provider_balance: 5_750, premiums: -2_875, write_off: -2_875 },
  ],
  [
    'and no gain any more, once the payer’s bank has taken it back',
    [
      ...paidTwice,
      waived(amount_pence),
      ...toldLater({ by: 'direct_debit', attempt: 2 }, dispute('Opened'), dispute('Lost')),
    ],
    { provider_balance: 2_875, premiums: -2_875 },
  ],
  [
    'what the payer’s bank has taken back is undecided while the dispute is open',
    [...asked, ...told(byDebit, captured, dispute('Opened'))],
    { disputed: 2_875, premiums: -2_875 },
  ],
  [
    'a dispute that was won leaves what was before',
    [...asked, ...told(byDebit, captured, dispute('Opened'), dispute('Won'))],
    { provider_balance: 2_875, premiums: -2_875 },
  ],
  [
    'a dispute that was lost leaves the premium owed again',
    [...asked, ...told(byDebit, captured, dispute('Opened'), dispute('Lost'))],
    { receivable: 2_875, premiums: -2_875 },
  ],
  [
    'a dispute of a part takes a part',
    [...asked, ...told(byDebit, captured, dispute('Opened', 1_000))],
    { provider_balance: rest, disputed: 1_000, premiums: -2_875 },
  ],
  [
    'a premium that is written off is asked for no more',
    [...asked, writtenOff],
    { write_off: 2_875, premiums: -2_875 },
  ],
  [
    'of a premium that is written off, what was given back is not lost once more',
    [
      ...asked,
      ...told(byDebit, captured, made(1_000), dispute('Opened', rest), dispute('Lost', rest)),
      owed(1_000),
      refunded(1_000),
      writtenOff,
    ],
    { premiums: -2_875, premium_refunds: 1_000, write_off: rest },
  ],
  [
    'of a premium of which a part was taken back, that part alone is written off',
    [...asked, ...told(byDebit, captured, dispute('Opened', 1_000), dispute('Lost', 1_000)), writtenOff],
    { provider_balance: rest, premiums: -2_875, write_off: 1_000 },
  ],
  [
    'what was given back as well as taken back is written off with the premium',
    [
      ...asked,
      ...told(byDebit, captured, dispute('Opened'), dispute('Lost')),
      owed(1_000),
      paidOtherwise(1_000),
      writtenOff,
    ],
    { premiums: -2_875, premium_refunds: 1_000, paid_otherwise: -1_000, write_off: 2_875 },
  ],
  [
    'what a premium that is written off may still get of a dispute is not lost yet',
    [...asked, ...told(byDebit, captured, dispute('Opened')), writtenOff],
    { disputed: 2_875, premiums: -2_875 },
  ],
  [
    'and is, once the dispute is lost',
    [...asked, ...told(byDebit, captured, dispute('Opened')), writtenOff, ...toldLater(byDebit, dispute('Lost'))],
    { write_off: 2_875, premiums: -2_875 },
  ],
  [
    'one that is collected after all was not to be written off',
    [...asked, writtenOff, ...told(byDebit, captured), collected()],
    { provider_balance: 2_875, premiums: -2_875 },
  ],
  [
    'a card that was charged for nothing yet pays no premium',
    cardCharged,
    { provider_balance: 2_875, unsold_payments: -2_875 },
  ],
  [
    'a card pays the premium of the policy that was sold for it',
    [...cardCharged, cardUsed, soldByCard, due],
    { provider_balance: 2_875, premiums: -2_875 },
  ],
  ['what was charged for nothing is given back', [...cardCharged, cardReturned('refunded')], {}],
  [
    'what was charged for nothing, was given back and came back is at the provider',
    [...cardCharged, cardReturned('refunded'), cardReturnFailed],
    { provider_balance: 2_875, unsold_payments: -2_875 },
  ],
  [
    'what was charged for nothing can be paid in another way',
    [...cardCharged, cardReturned('refunded'), cardReturnFailed, cardReturnClosed('paid_otherwise')],
    { provider_balance: 2_875, paid_otherwise: -2_875 },
  ],
  [
    'what was charged for nothing, and is owed to nobody, is a gain where losses stand',
    [...cardCharged, cardReturnClosed('not_owed')],
    { provider_balance: 2_875, write_off: -2_875 },
  ],
  [
    'what was charged for nothing can be taken back by the payer’s bank',
    [...cardCharged, cardReturnClosed('taken_back')],
    {},
  ],
])('%s', (_title, events, balances) => {
  expect(after(events).balances).toEqual(balances)
})

test('each entry says what has happened, in the order in which it did', () => {
  expect(
    after(asked, told(byDebit, captured, made(1_000), failed(1_000), dispute('Opened'), dispute('Lost')), writtenOff)
      .kinds,
  ).toEqual([
    'premium_due',
    'payment_received',
    'refund_made',
    'refund_failed',
    'dispute_opened',
    'dispute_lost',
    'written_off',
  ])
})
