import { expect, test } from 'vitest'
import {
  amount_pence,
  captured,
  cardCharged,
  card_id,
  cardReturned,
  cardReturnFailed,
  cardUsed,
  collected,
  collectedOfCard,
  dispute,
  disputed,
  due,
  dueByDebit,
  failed,
  made,
  owed,
  refunded,
  refundFailed,
  reinstated,
  requested,
  retried,
  soldByCard,
  soldByDebit,
  takenBack,
  told,
  policy_id,
  premium_id,
  type Posted,
} from './events.ts'
import { imbalanceOf, ledgerRows } from './ledger-rows.ts'

/** What a version without streams of payments has stored, and what a look at the provider adds to it. */

const byDebit = { by: 'direct_debit' } as const
const byCard = { by: 'card' } as const
const sold = [soldByDebit, dueByDebit, requested()]
const soldCard = [...cardCharged, cardUsed, soldByCard, due, collectedOfCard]
const collectedDebit = [...sold, collected()]

type History = readonly [title: string, former: readonly Posted[], looked: readonly Posted[], balances: object]

const histories: readonly History[] = [
  ['a debit', collectedDebit, told(byDebit, captured), { provider_balance: 2_875, premiums: -2_875 }],
  ['a debit without an answer yet', sold, told(byDebit), { receivable: 2_875, premiums: -2_875 }],
  ['a card', soldCard, told(byCard, captured), { provider_balance: 2_875, premiums: -2_875 }],
  [
    'a debit that was given back in part',
    [...collectedDebit, owed(1_000), refunded(1_000)],
    told(byDebit, captured, made(1_000)),
    { provider_balance: 1_875, premiums: -2_875, premium_refunds: 1_000 },
  ],
  [
    'a refund that has failed',
    [...collectedDebit, owed(1_000), refunded(1_000), refundFailed(1_000)],
    told(byDebit, captured, made(1_000), failed(1_000)),
    { provider_balance: 2_875, premiums: -2_875, premium_refunds: 1_000, refunds_payable: -1_000 },
  ],
  [
    'a refund that has failed and was made again',
    [...collectedDebit, owed(1_000), refunded(1_000), refundFailed(1_000), refunded(1_000)],
    told(byDebit, captured, made(1_000), failed(1_000), made(1_000, 're_2')),
    { provider_balance: 1_875, premiums: -2_875, premium_refunds: 1_000 },
  ],
  [
    'a card that was given back, of which both its application and its policy tell',
    [
      ...soldCard,
      owed(amount_pence, 'cooling_off'),
      cardReturned('refunded', policy_id),
      refunded(amount_pence, 'cooling_off'),
    ],
    told(byCard, captured, made(amount_pence)),
    { premiums: -2_875, premium_refunds: 2_875 },
  ],
  [
    'a disputed debit',
    [...collectedDebit, disputed()],
    told(byDebit, captured, dispute('Opened')),
    { disputed: 2_875, premiums: -2_875 },
  ],
  [
    'a disputed card',
    [...soldCard, disputed()],
    told(byCard, captured, dispute('Opened')),
    { disputed: 2_875, premiums: -2_875 },
  ],
  [
    'a debit whose dispute was won',
    [...collectedDebit, disputed(), collected()],
    told(byDebit, captured, dispute('Opened'), dispute('Won')),
    { provider_balance: 2_875, premiums: -2_875 },
  ],
  [
    'a premium that was disputed, collected again and won back',
    [
      ...collectedDebit,
      disputed(),
      retried(2),
      requested(2),
      collected(2),
      reinstated(1),
      owed(amount_pence, 'paid_twice'),
    ],
    [
      ...told(byDebit, captured, dispute('Opened'), dispute('Won')),
      ...told({ by: 'direct_debit', attempt: 2 }, captured),
    ],
    { provider_balance: 5_750, premiums: -2_875, refunds_payable: -2_875 },
  ],
  [
    'one that was lost after all',
    [...collectedDebit, disputed(), retried(2), requested(2), collected(2), reinstated(1), takenBack(1)],
    [
      ...told(
        byDebit,
        captured,
        dispute('Opened', amount_pence, 'dp_1'),
        dispute('Won', amount_pence, 'dp_1'),
        dispute('Opened', amount_pence, 'dp_2'),
      ),
      ...told({ by: 'direct_debit', attempt: 2 }, captured),
    ],
    { provider_balance: 2_875, disputed: 2_875, receivable: -2_875, premiums: -2_875 },
  ],
]

const ledgerOf = (events: readonly Posted[]) => {
  const ledger = ledgerRows()
  const post = (all: readonly Posted[]) => all.flatMap(({ event, stream }) => ledger.post(event, stream))
  const posted = post(events)
  expect(posted.map(imbalanceOf)).toEqual(posted.map(() => 0))
  return { ...ledger, post }
}

test.each(histories)('%s is in the ledger by what was stored of it', (_title, former, _looked, balances) => {
  expect(ledgerOf(former).balances()).toEqual(balances)
})

test.each(histories)(
  '%s gets a stream: what a look at the provider finds is not posted once more',
  (_title, former, looked, balances) => {
    const ledger = ledgerOf(former)
    const posted = ledger.post(looked)

    expect(ledger.balances()).toEqual(balances)
    expect(posted).toEqual([])
  },
)

test('what a look finds beyond what was stored is posted, and what the policy tells of it then is not', () => {
  const ledger = ledgerOf([...collectedDebit, ...told(byDebit, captured, made(1_000), dispute('Opened', 1_875))])
  const now = { disputed: 1_875, premiums: -2_875, refunds_payable: 1_000 }
  expect(ledger.balances()).toEqual(now)

  ledger.post([owed(1_000), refunded(1_000), disputed()])
  expect(ledger.balances()).toEqual({ disputed: 1_875, premiums: -2_875, premium_refunds: 1_000 })
})

test('a dispute of a part, which was stored as one of all, is one of a part once the provider was looked at', () => {
  const ledger = ledgerOf([...collectedDebit, disputed()])
  expect(ledger.balance('disputed')).toBe(2_875)

  ledger.post(told(byDebit, captured, dispute('Opened', 1_000)))
  expect(ledger.balances()).toEqual({ provider_balance: 1_875, disputed: 1_000, premiums: -2_875 })
})

/** A card that nothing was sold for, as its payment tells of it. */
const toldUnsold = (...events: Parameters<typeof told> extends [unknown, ...infer Rest] ? Rest : never) =>
  told(byCard, ...events).map(({ event, stream }) => ({
    event: { ...event, policy_id: null, premium_id: null, ...(event.type === 'PaymentOpened' && { attempt: null }) },
    stream,
  })) as readonly Posted[]

const unsoldHistories: readonly (readonly [string, readonly Posted[], readonly Posted[], object])[] = [
  ['that is kept', cardCharged, toldUnsold(captured), { provider_balance: 2_875, unsold_payments: -2_875 }],
  ['that was given back', [...cardCharged, cardReturned('refunded')], toldUnsold(captured, made(2_875)), {}],
  [
    'whose refund has failed',
    [...cardCharged, cardReturned('refunded'), cardReturnFailed],
    toldUnsold(captured, made(2_875), failed(2_875)),
    { provider_balance: 2_875, unsold_payments: -2_875 },
  ],
  [
    'that was given back before its charge was known',
    [cardCharged[0] as Posted, cardReturned('refunded')],
    toldUnsold(captured, made(2_875)),
    {},
  ],
]

test.each(unsoldHistories)(
  'a card without a sale %s is in the ledger by its application, and once by its payment',
  (_title, former, looked, balances) => {
    const ledger = ledgerOf(former)
    expect(ledger.balances()).toEqual(balances)
    expect(ledger.post(looked)).toEqual([])
    expect(ledger.balances()).toEqual(balances)
  },
)

test('a dispute of a card without a sale, which stood as a return, is a dispute once its payment tells of it', () => {
  const ledger = ledgerOf([...cardCharged, cardReturned('refunded')])
  expect(ledger.balances()).toEqual({})

  ledger.post(toldUnsold(captured, dispute('Opened')))
  expect(ledger.balances()).toEqual({ disputed: 2_875, unsold_payments: -2_875 })
  ledger.post([cardReturnFailed])
  ledger.post(toldUnsold(captured, dispute('Won')).slice(3))
  expect(ledger.balances()).toEqual({ provider_balance: 2_875, unsold_payments: -2_875 })
})

test('a card that was told of before its sale pays its premium with what is left of it', () => {
  const ledger = ledgerOf([...cardCharged, ...toldUnsold(captured, made(400))])
  expect(ledger.balances()).toEqual({ provider_balance: 2_475, unsold_payments: -2_475 })

  ledger.post([cardUsed, soldByCard, due, collectedOfCard])
  const assigned = { type: 'PaymentAssigned', payment_id: card_id, policy_id, premium_id, attempt: 1 } as const
  ledger.post([{ event: assigned, stream: `payment-${card_id}` }])

  expect(ledger.balance('provider_balance')).toBe(2_475)
  expect(ledger.balance('unsold_payments')).toBe(0)
  expect(ledger.balance('premiums')).toBe(-2_875)
})

test('an authorisation that was let go gives nothing back, although its policy has recorded so', () => {
  const authorised = cardCharged.map(({ event, stream }) => ({
    event: event.type === 'CardPaymentTaken' ? { ...event, status: 'authorised' as const } : event,
    stream,
  }))
  const ledger = ledgerOf([
    ...authorised,
    cardUsed,
    soldByCard,
    due,
    owed(amount_pence, 'cooling_off'),
    cardReturned('released', policy_id),
    refunded(amount_pence, 'cooling_off'),
  ])

  expect(ledger.balance('provider_balance')).toBe(0)
})
