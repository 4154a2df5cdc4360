import { describe, expect, test } from 'vitest'
import { expectItToAddUp, finish, take, type Step } from './settle-steps.ts'
import { bankHolds, openSettleWorld, type SettleWorld } from './settle-world.ts'

/** What happened to a premium of £28.75, and what must be so then; and in the end, when all that is due was done. */

type Happening = Step | ((world: SettleWorld) => void)
type Then = {
  readonly status: string
  /** The attempts whose payments are the firm's: the first pays the premium. */
  readonly by: readonly number[]
  readonly refunds: readonly string[]
  readonly refunded_pence: number
  /** What the firm has in the end. */
  readonly held: number
}

const told = true
const disputed = (at: number): Happening => ({ act: 'dispute', at, pence: null, told })
const won = (at: number): Happening => ({ act: 'win', at, told })
const byHand = (at: number, pence: number): Happening => ({ act: 'by hand', at, pence, told })
const refundFails = (at: number): Happening => ({ act: 'refund fails', at, told })
const settles = (at: number, succeeds = true): Happening => ({ act: 'bank settles', at, succeeds, told })
/** An attempt that had failed has succeeded after all. */
const succeedsLate = (at: number) => (world: SettleWorld) => {
  const payment = world.bank[at] ?? expect.fail()
  payment.status = 'succeeded'
  world.look(payment)
}
const looked = (at: number): Happening => ({ act: 'look', at })
const collect: Happening = { act: 'collect', kill: undefined }
const givesBack: Happening = { act: 'give back', kill: undefined }
const retried: Happening = { act: 'team retries' }
const askedAnew = [retried, collect]
const collectedAnew = (at: number) => [...askedAnew, settles(at)]
const paid = [collect, settles(0)]
const teamRefunds = (pence: number | null = null): Happening => ({ act: 'team refunds', pence })
const teamTriesAgain: Happening = { act: 'team retries refund', at: 0 }
const closed = (how: 'paid_otherwise' | 'not_owed'): Happening => ({ act: 'team closes refund', at: 0, how })
/** What nobody has told of yet. */
const untold = {
  disputed: { act: 'dispute', at: 0, pence: null, told: false } as Happening,
  won: { act: 'win', at: 0, told: false } as Happening,
  byHand: (pence: number): Happening => ({ act: 'by hand', at: 0, pence, told: false }),
  refundFails: { act: 'refund fails', at: 0, told: false } as Happening,
}
const givesBackUntilKilled = (kill: 'asked' | 'done'): Happening => ({ act: 'give back', kill })
const coolOff: Happening = { act: 'cancel', cooling_off: true }
/** The term of the policy has come to its end: what was covered is paid for. */
const expires = ({ policy, settleAll }: SettleWorld) => {
  policy.has_ended = true
  settleAll()
}
const writtenOff: Happening = { act: 'write off' }

const standOf = (world: SettleWorld): Omit<Then, 'held'> => {
  const { status, attempt, also_paid_by, refunds, refunded_pence } = world.premium()
  return {
    status,
    by: [...(status === 'collected' ? [attempt] : []), ...also_paid_by.map((each) => each.attempt)],
    refunds: refunds.map(
      ({ refund_pence, reason, status: how, is_left }) =>
        `${refund_pence} ${reason} ${how}${is_left ? ', left to the team' : ''}`,
    ),
    refunded_pence,
  }
}

const heldBy = ({ bank }: SettleWorld): number => bank.reduce((sum, each) => sum + bankHolds(each), 0)

type History = readonly [
  title: string,
  happened: readonly (Happening | readonly Happening[])[],
  then: Partial<Then> & Pick<Then, 'held'>,
]

const openAfter = (isByCard: boolean, happened: History[1]): SettleWorld => {
  const world = openSettleWorld(isByCard)
  for (const [count, each] of happened.flat().entries())
    if (typeof each === 'function') each(world)
    else take(world, each, count)
  return world
}

const twice = '2875 paid_twice owed'
const twiceGiven = '2875 paid_twice refunded'
const twiceWaived = '2875 paid_twice waived'
const twiceLeft = '2875 paid_twice owed, left to the team'
const coolingOff = '2875 cooling_off owed'
const coolingOffGiven = '2875 cooling_off refunded'
const unpaid = { status: 'failed', by: [], held: 0 }

const byDebit: readonly History[] = [
  // What was paid twice.
  [
    'an attempt that had failed has succeeded after all, beside the next: the newer payment is given back',
    [collect, settles(0, false), collectedAnew(1), succeedsLate(0)],
    { status: 'collected', by: [1, 2], refunds: [twice], held: 2875 },
  ],
  [
    'an attempt that had failed has succeeded while the next is under way, which then succeeds too',
    [collect, settles(0, false), askedAnew, succeedsLate(0), settles(1), looked(0), looked(1)],
    { status: 'collected', by: [1, 2], refunds: [twice], held: 2875 },
  ],
  [
    'an attempt that had failed succeeds after all, although a later one was taken back',
    [collect, settles(0, false), collectedAnew(1), disputed(1), succeedsLate(0)],
    { status: 'collected', by: [1], refunds: [], held: 2875 },
  ],
  [
    'a payment that had failed first and is given back by hand is the one of two that is given back',
    [collect, settles(0, false), collectedAnew(1), succeedsLate(0), byHand(0, 2875)],
    { status: 'collected', by: [2], refunds: [twiceGiven], refunded_pence: 0, held: 2875 },
  ],
  // A dispute, and what is collected again.
  ['the payer’s bank takes it back', [paid, disputed(0)], { ...unpaid, refunds: [] }],
  [
    'it is taken back before anybody has recorded that it was collected',
    [
      collect,
      { act: 'bank settles', at: 0, succeeds: true, told: false },
      { act: 'dispute', at: 0, pence: null, told: true },
    ],
    unpaid,
  ],
  [
    'the dispute is won',
    [paid, disputed(0), won(0), looked(0)],
    { status: 'collected', by: [1], refunds: [], held: 2875 },
  ],
  ['the dispute is won, and lost after all', [paid, disputed(0), won(0), disputed(0)], unpaid],
  [
    'the dispute is won, lost after all, and won again',
    [paid, disputed(0), won(0), disputed(0), won(0)],
    { status: 'collected', by: [1], held: 2875 },
  ],
  [
    'there was no dispute to win of what the banks had never paid',
    [collect, settles(0, false), won(0)],
    { status: 'failed', by: [], refunds: [], held: 2875 },
  ],
  [
    'the dispute is won while it is asked for again: the first pays, and what comes then is given back',
    [paid, disputed(0), askedAnew, won(0), looked(0)],
    { status: 'collected', by: [1], refunds: [], held: 2875 },
  ],
  [
    'the dispute is won while it is asked for again in vain',
    [paid, disputed(0), askedAnew, won(0), settles(1, false)],
    { status: 'collected', by: [1], refunds: [], held: 2875 },
  ],
  [
    'the dispute is won, and it is collected again',
    [paid, disputed(0), askedAnew, won(0), settles(1), looked(0)],
    { status: 'collected', by: [1, 2], refunds: [twice], held: 2875 },
  ],
  [
    'a dispute that was won beside another payment is lost after all: the other is not given back',
    [paid, disputed(0), collectedAnew(1), won(0), disputed(0), looked(0)],
    { status: 'collected', by: [2], refunds: [twiceWaived], held: 2875 },
  ],
  [
    'a dispute beside another payment is won, lost, and won once more: one of both is given back',
    [paid, disputed(0), collectedAnew(1), won(0), disputed(0), won(0)],
    { status: 'collected', by: [1, 2], refunds: [twiceWaived, twice], held: 2875 },
  ],
  [
    'one of two is given back, and then the other is lost',
    [paid, disputed(0), collectedAnew(1), won(0), givesBack, disputed(0)],
    { ...unpaid, refunds: [twiceGiven] },
  ],
  [
    'one of two is given back, the other is lost, and won once more',
    [paid, disputed(0), collectedAnew(1), won(0), givesBack, disputed(0), won(0)],
    { status: 'collected', by: [1], refunds: [twiceGiven], held: 2875 },
  ],
  [
    'what was won while it is asked for again is lost after all: it is unpaid until that comes',
    [paid, disputed(0), askedAnew, won(0), disputed(0)],
    { by: [], refunds: [], held: 2875 },
  ],
  [
    'what was won while it is asked for again is given back by hand, lost, and won: it pays nothing',
    [paid, disputed(0), askedAnew, won(0), byHand(0, 2875), disputed(0), won(0)],
    { by: [], refunds: [twiceGiven], refunded_pence: 0, held: 2875 },
  ],
  [
    'a part of what was won is given back by hand beside another payment, and the rest of both is owed',
    [paid, disputed(0), collectedAnew(1), won(0), byHand(0, 400)],
    { status: 'collected', by: [1, 2], refunds: ['2475 paid_twice owed', '400 paid_twice refunded'], held: 2875 },
  ],
  [
    'a part of what was won is given back by hand, and all of it is lost: that part is missing, and left to the team',
    [paid, disputed(0), collectedAnew(1), won(0), byHand(0, 400), disputed(0)],
    { status: 'failed', refunds: ['2475 paid_twice waived', '400 paid_twice refunded'], held: 2475 },
  ],
  // Three payments.
  [
    'three attempts have collected it: two are given back, however often either is told',
    [paid, disputed(0), collectedAnew(1), disputed(1), collectedAnew(2), won(0), won(1), looked(0), looked(1)],
    { status: 'collected', by: [1, 2, 3], refunds: [twice, twice], held: 2875 },
  ],
  [
    'of three payments the newest is taken back',
    [paid, disputed(0), collectedAnew(1), disputed(1), collectedAnew(2), won(0), won(1), disputed(2)],
    { status: 'collected', by: [1, 2], refunds: [twice, twiceWaived], held: 2875 },
  ],
  [
    'of three payments one was given back, and another is lost: the third is kept',
    [paid, disputed(0), collectedAnew(1), disputed(1), collectedAnew(2), won(0), won(1), givesBack, disputed(0)],
    { status: 'collected', by: [2], refunds: [twiceWaived, twiceGiven], held: 2875 },
  ],
  [
    'it is not paid by one that was taken back before another was',
    [paid, disputed(0), collectedAnew(1), disputed(1), won(0), disputed(0), looked(1)],
    unpaid,
  ],
  // Of two payments of which one was given back.
  [
    'the other is taken back, and it is collected again: that is not given back',
    [paid, disputed(0), collectedAnew(1), won(0), givesBack, disputed(0), collectedAnew(2)],
    { status: 'collected', by: [3], refunds: [twiceGiven], held: 2875 },
  ],
  [
    'the other is taken back, and it is asked for again in vain',
    [paid, disputed(0), collectedAnew(1), won(0), givesBack, disputed(0), askedAnew, settles(2, false)],
    { ...unpaid, refunds: [twiceGiven] },
  ],
  [
    'the other is taken back, and the refund fails: that payment pays it',
    [paid, disputed(0), collectedAnew(1), won(0), givesBack, disputed(0), refundFails(1)],
    { status: 'collected', by: [2], refunds: [twiceWaived], held: 2875 },
  ],
  [
    'the other is given back by hand, and the refund of the first fails',
    [paid, disputed(0), collectedAnew(1), won(0), givesBack, byHand(0, 2875), refundFails(1)],
    { refunds: [twiceLeft, '2875 provider refunded'], refunded_pence: 2875, held: 2875 },
  ],
  [
    'it was left to the team and paid otherwise, and then the other is taken back',
    [paid, disputed(0), collectedAnew(1), won(0), givesBack, refundFails(1), closed('paid_otherwise'), disputed(1)],
    { status: 'failed', refunds: ['2875 paid_twice paid_otherwise'], refunded_pence: 0, held: 2875 },
  ],
  // A policy that has ended.
  [
    'the policy ends while an earlier attempt pays it: it is not written off',
    [paid, disputed(0), askedAnew, won(0), settles(1, false), expires],
    { status: 'collected', by: [1], held: 2875 },
  ],
  [
    'cooled off, taken back before it was given back, and won: it is owed again',
    [paid, coolOff, disputed(0), won(0)],
    { status: 'collected', refunds: ['2875 cooling_off waived', coolingOff], held: 0 },
  ],
  [
    'cooled off and taken back: it is written off, and nothing is owed',
    [paid, coolOff, disputed(0)],
    { status: 'written_off', refunds: ['2875 cooling_off waived'], held: 0 },
  ],
  [
    'cooled off, taken back, won, lost, and won once more: it is owed once more',
    [paid, coolOff, disputed(0), won(0), disputed(0), won(0)],
    { refunds: ['2875 cooling_off waived', '2875 cooling_off waived', coolingOff], held: 0 },
  ],
  [
    'cooled off and given back, taken back, and won: it is the firm’s own',
    [paid, coolOff, givesBack, disputed(0), won(0)],
    { refunds: [coolingOffGiven], held: 0 },
  ],
  [
    'a part was given back before, cooled off, taken back, and won: the rest is owed',
    [paid, teamRefunds(500), givesBack, coolOff, disputed(0), won(0)],
    { refunds: ['500 operator refunded', '2375 cooling_off waived', '2375 cooling_off owed'], held: 0 },
  ],
  [
    'what the team said is not owed any more is owed once the policy is cooled off after it was collected again',
    [paid, teamRefunds(), disputed(0), closed('not_owed'), askedAnew, coolOff, settles(1)],
    { status: 'collected', by: [2], refunds: ['2875 operator waived', coolingOff], held: 0 },
  ],
]

const cardAndDebit = [disputed(0), ...collectedAnew(1), won(0)]
const bothWon = [disputed(0), ...collectedAnew(1), disputed(1), won(0), won(1)]
const byCard: readonly History[] = [
  [
    'what was collected again, after the dispute was won, is given back of the debit',
    [disputed(0), askedAnew, won(0), settles(1)],
    { status: 'collected', by: [1, 2], refunds: [twice], held: 2875 },
  ],
  [
    'the dispute is won beside the debit, which is given back',
    [cardAndDebit, givesBack],
    { status: 'collected', by: [1], refunds: [twiceGiven], held: 2875 },
  ],
  [
    'what was given back of the debit beside the card fails: it is owed still, and left to the team',
    [disputed(0), collectedAnew(1), disputed(1), won(0), won(1), givesBack, refundFails(1)],
    { status: 'collected', by: [1, 2], refunds: [twiceLeft], held: 5750 },
  ],
  [
    'the card is given back by hand beside the debit: then the debit is not, which is recorded once',
    [cardAndDebit, byHand(0, 2875), looked(0)],
    { status: 'collected', by: [2], refunds: [twiceGiven], refunded_pence: 0, held: 2875 },
  ],
  [
    'of the card a part is given back by hand: the rest of what was paid twice is given back of the debit',
    [cardAndDebit, byHand(0, 1_000), givesBack],
    { refunds: ['1000 paid_twice refunded', '1875 paid_twice refunded'], refunded_pence: 0, held: 2875 },
  ],
  [
    'the debit was given back, cooled off, and the card is given back by hand',
    [cardAndDebit, givesBack, coolOff, byHand(0, 2875)],
    { refunds: [twiceGiven, coolingOffGiven], refunded_pence: 2875, held: 0 },
  ],
  [
    'the card is given back by hand while the debit is asked for: it pays nothing any more',
    [disputed(0), askedAnew, won(0), byHand(0, 2875)],
    { by: [], refunds: [twiceGiven], refunded_pence: 0, held: 2875 },
  ],
  [
    'the card is given back by hand while the debit is asked for, which then is not given back',
    [disputed(0), askedAnew, won(0), byHand(0, 2875), settles(1)],
    { status: 'collected', by: [2], refunds: [twiceGiven], held: 2875 },
  ],
  [
    'the card is given back by hand while the debit is asked for in vain: it is unpaid',
    [disputed(0), askedAnew, won(0), byHand(0, 2875), settles(1, false)],
    { status: 'failed', by: [], refunds: [twiceGiven], held: 2875 },
  ],
  [
    'a part of the card is given back by hand while the debit is asked for: the debit is given back whole',
    [disputed(0), askedAnew, won(0), byHand(0, 1_000), settles(1), givesBack],
    { by: [1], refunds: ['1000 provider refunded', twiceGiven], refunded_pence: 1000, held: 1875 },
  ],
  [
    'the debit was given back, and the card by hand: that was given back of the premium',
    [cardAndDebit, givesBack, byHand(0, 2875)],
    { refunds: [twiceGiven, '2875 provider refunded'], refunded_pence: 2875, held: 0 },
  ],
  [
    'what was given back by hand of the card comes back to the provider: it is owed again',
    [cardAndDebit, byHand(0, 2875), refundFails(0)],
    { by: [1, 2], refunds: [twiceLeft], held: 5750 },
  ],
  [
    'the card is lost while the debit was taken back and won: the debit pays',
    [disputed(0), collectedAnew(1), disputed(1), askedAnew, won(1), settles(2, false)],
    { status: 'collected', by: [2], refunds: [], held: 2875 },
  ],
  [
    'what is collected after it was cooled off is given back of the debit',
    [disputed(0), askedAnew, coolOff, settles(1)],
    { by: [2], refunds: [coolingOff], held: 0 },
  ],
  [
    'the dispute is won while nothing is collected yet, and it is cooled off: the card is given back',
    [disputed(0), retried, won(0), coolOff],
    { by: [1], refunds: [coolingOff], held: 0 },
  ],
  [
    'cooled off with both paid, and the debit is taken back: the card is given back, and no more',
    [cardAndDebit, coolOff, disputed(1)],
    { by: [1], refunds: [twiceWaived, coolingOff], held: 0 },
  ],
  // The team gives back what one of both still holds.
  [
    'the debit was given back beside the card, and the team gives back all: the card gives it',
    [cardAndDebit, givesBack, teamRefunds(), givesBack],
    { refunds: [twiceGiven, '2875 operator refunded'], refunded_pence: 2875, held: 0 },
  ],
  [
    'the debit is about to be given back beside the card, and the team gives back all',
    [cardAndDebit, teamRefunds(), givesBack, givesBack],
    { refunds: [twiceGiven, '2875 operator refunded'], refunded_pence: 2875, held: 0 },
  ],
  [
    'the debit was given back by hand beside the card, and the team gives back all',
    [cardAndDebit, byHand(1, 2875), teamRefunds(), givesBack],
    { refunds: [twiceGiven, '2875 operator refunded'], refunded_pence: 2875, held: 0 },
  ],
  [
    'the card was given back by hand beside the debit, and the team gives back a part, once: the debit gives it',
    [cardAndDebit, byHand(0, 2875), teamRefunds(1_000), givesBack, givesBack],
    { by: [2], refunds: [twiceGiven, '1000 operator refunded'], refunded_pence: 1000, held: 1875 },
  ],
  [
    'a part of the card was given back by hand beside the debit, and the team gives back all, of both',
    [cardAndDebit, byHand(0, 1_000), teamRefunds(), ...Array.from({ length: 4 }, () => givesBack)],
    { status: 'collected', by: [1], refunded_pence: 2875, held: 0 },
  ],
  [
    'the debit was given back by hand beside the card, and it is cooled off: the card is given back',
    [cardAndDebit, byHand(1, 2875), coolOff, givesBack],
    { refunds: [twiceGiven, coolingOffGiven], refunded_pence: 2875, held: 0 },
  ],
  [
    'the card was given back by hand beside the debit, and the team gives back all: the debit gives it',
    [bothWon, byHand(0, 2875), teamRefunds(), givesBack],
    { refunds: [twiceGiven, '2875 operator refunded'], refunded_pence: 2875, held: 0 },
  ],
  [
    'the card was given back by hand beside the debit, and it is cooled off: the debit is given back',
    [bothWon, byHand(0, 2875), coolOff, givesBack],
    { refunds: [twiceGiven, coolingOffGiven], refunded_pence: 2875, held: 0 },
  ],
  // What is owed, of which payment, and why.
  [
    'two payments stand while a third is under way: nothing is given back until that is known',
    [disputed(0), collectedAnew(1), disputed(1), askedAnew, won(0), won(1)],
    { by: [1, 2], refunds: [], held: 2875 },
  ],
  [
    'of three payments two are owed, and the provider was asked for the first: both are owed still',
    [
      disputed(0),
      collectedAnew(1),
      disputed(1),
      collectedAnew(2),
      won(0),
      won(1),
      givesBackUntilKilled('asked'),
      looked(0),
    ],
    { refunds: [twice, twice], held: 2875 },
  ],
  [
    'what is owed already is reserved of the newest payments: what was paid twice comes of the older ones',
    [disputed(0), collectedAnew(1), disputed(1), collectedAnew(2), won(0), teamRefunds(1_000), won(1)],
    { refunds: [twice, '1000 operator owed', '1875 paid_twice owed', '1000 paid_twice owed'], held: 1875 },
  ],
  [
    'a part of the card is taken back beside the debit: so much less was paid twice',
    [cardAndDebit, { act: 'dispute', at: 0, pence: 1_000, told }],
    { status: 'collected', refunds: ['1875 paid_twice owed'], held: 2875 },
  ],
  [
    'what the team gives back was not paid twice, and is not owed once more when it is cooled off',
    [cardAndDebit, teamRefunds(1_000), coolOff],
    { refunds: [twice, '1000 operator owed', '1875 cooling_off owed'], held: 0 },
  ],
  [
    'what is won back of a policy that was cooled off was paid twice',
    [disputed(0), collectedAnew(1), coolOff, won(0)],
    { refunds: [coolingOff, twice], held: 0 },
  ],
  [
    'what is won back of a policy that was cooled off was paid twice, also where that was owed before',
    [cardAndDebit, disputed(0), coolOff, won(0)],
    { refunds: [twiceWaived, coolingOff, twice], held: 0 },
  ],
  // A part that somebody has given back by hand.
  [
    'a part was given back by hand: so much less is owed for it',
    [byHand(0, 400), looked(0)],
    { status: 'collected', by: [1], refunds: ['400 provider refunded'], refunded_pence: 400, held: 2475 },
  ],
  [
    'a part that was given back by hand comes back: it is owed to nobody',
    [byHand(0, 400), refundFails(0), looked(0)],
    { status: 'collected', refunds: ['400 provider waived'], refunded_pence: 0, held: 2875 },
  ],
  [
    'a part that was given back by hand comes back after the payer’s bank has taken it back: so is that',
    [byHand(0, 400), disputed(0), writtenOff, refundFails(0)],
    { status: 'written_off', refunds: ['400 provider waived'], held: 0 },
  ],
  [
    'a part was given back by hand, and the team gives back the rest: that part is not counted again',
    [byHand(0, 400), teamRefunds(), givesBack],
    { refunds: ['400 provider refunded', '2475 operator refunded'], refunded_pence: 2875, held: 0 },
  ],
  [
    'a part was given back by hand, and more by hand',
    [byHand(0, 400), byHand(0, 1_000)],
    { refunds: ['400 provider refunded', '1000 provider refunded'], refunded_pence: 1400, held: 1475 },
  ],
  [
    'two refunds are owed, and by hand is given back what goes beyond them',
    [teamRefunds(500), teamRefunds(500), byHand(0, 1_400)],
    { refunds: ['500 operator refunded', '500 operator refunded', '400 provider refunded'], held: 1475 },
  ],
  [
    'two refunds are owed, and one of them is given back by hand: the one of its amount',
    [teamRefunds(1_000), teamRefunds(500), byHand(0, 500)],
    { refunds: ['1000 operator owed', '500 operator refunded'], held: 1375 },
  ],
  [
    'what the team gave back comes back, and more is given back by hand, of which both is told at once',
    [teamRefunds(400), givesBack, { act: 'refund fails', at: 0, told: false }, byHand(0, 1_000)],
    {
      status: 'collected',
      refunds: ['400 operator refunded', '600 provider refunded'],
      refunded_pence: 1000,
      held: 1875,
    },
  ],
  [
    'a part that was given back by hand comes back, and another is given back, of which both is told at once',
    [byHand(0, 400), { act: 'refund fails', at: 0, told: false }, byHand(0, 1_000)],
    {
      status: 'collected',
      refunds: ['400 provider waived', '1000 provider refunded'],
      refunded_pence: 1000,
      held: 1875,
    },
  ],
  [
    'all was owed, and all is given back by hand',
    [teamRefunds(), byHand(0, 2875)],
    { refunds: ['2875 operator refunded'], refunded_pence: 2875, held: 0 },
  ],
  [
    'all is given back by somebody whom nobody owed it to',
    [byHand(0, 2875), looked(0)],
    { status: 'collected', refunds: ['2875 provider refunded'], refunded_pence: 2875, held: 0 },
  ],
]

/** Each of these went wrong in a former version: good money was given away, or a wrong figure recorded. */
const wrongOnce: readonly History[] = [
  [
    'a part is given back by hand beside a debit, comes back, and the card is lost: nothing of the debit is owed',
    [cardAndDebit, byHand(0, 400), refundFails(0), disputed(0), teamTriesAgain, givesBack],
    { status: 'collected', by: [2], refunds: ['2475 paid_twice waived', '400 paid_twice waived'], held: 2875 },
  ],
  [
    'the debit was given back before, a part by hand as well, which comes back, and the card is lost: it is unpaid',
    [cardAndDebit, givesBack, byHand(0, 400), refundFails(0), disputed(0), teamTriesAgain, collectedAnew(2)],
    { status: 'collected', by: [3], refunds: [twiceGiven, '400 provider waived'], held: 2875 },
  ],
  [
    'all is given back by hand beside a debit, comes back, and the card is lost: nothing of the debit is owed',
    [cardAndDebit, byHand(0, 2875), refundFails(0), disputed(0), teamTriesAgain, givesBack],
    { status: 'collected', by: [2], refunds: [twiceWaived], refunded_pence: 0, held: 2875 },
  ],
  [
    'parts of both are given back by hand, one comes back, the debit is lost, and the team has the rest collected',
    [cardAndDebit, byHand(0, 1_000), byHand(1, 400), refundFails(0), disputed(1), teamTriesAgain, collectedAnew(2)],
    {
      status: 'collected',
      by: [1, 3],
      refunds: ['1475 paid_twice waived', '1000 paid_twice waived', '400 paid_twice refunded'],
      refunded_pence: 0,
      held: 2875,
    },
  ],
  [
    'what was owed before a dispute that was won is owed still: the team has it tried again',
    [teamRefunds(), disputed(0), won(0), teamTriesAgain, givesBack],
    { refunds: ['2875 operator refunded'], refunded_pence: 2875, held: 0 },
  ],
  [
    'what the team gives back of a debit that is lost is given back of the card, which pays again',
    [cardAndDebit, teamRefunds(), disputed(1), givesBack],
    { by: [1], refunds: [twiceWaived, '2875 operator refunded'], refunded_pence: 2875, held: 0 },
  ],
  [
    'the won card payment was given back by hand, which failed, and each of both is lost and won once more',
    [cardAndDebit, byHand(0, 2875), refundFails(0), disputed(1), won(1), disputed(0), won(0)],
    { status: 'collected', by: [1, 2], refunds: [twiceWaived, twiceWaived, twice], held: 2875 },
  ],
  [
    'parts that were given back by hand stand when what was given back whole has failed',
    [byHand(0, 2875), untold.refundFails, untold.byHand(50), byHand(0, 50), disputed(0)],
    {
      status: 'failed',
      refunds: ['2875 provider waived', '50 provider refunded', '50 provider refunded'],
      refunded_pence: 100,
      held: -100,
    },
  ],
  [
    'a part that failed before all was given back is not owed, and all is recorded',
    [untold.byHand(50), untold.refundFails, byHand(0, 2875), disputed(0)],
    { status: 'failed', refunds: ['2875 provider refunded'], refunded_pence: 2875, held: -2875 },
  ],
  [
    'two payments stand while a third is asked for in vain: one is given back',
    [disputed(0), collectedAnew(1), disputed(1), askedAnew, won(0), won(1), settles(2, false)],
    { status: 'collected', by: [1, 2], refunds: [twice], held: 2875 },
  ],
  [
    'the card is given back by hand, which fails, while it is to be asked for again, and is lost: it is owed to nobody',
    [disputed(0), retried, won(0), byHand(0, 2875), untold.refundFails, disputed(0)],
    { status: 'failed', refunds: ['2875 provider waived'], held: 0 },
  ],
  [
    'what has come back of a part of the card is not given back of a debit once that is cooled off',
    [byHand(0, 400), untold.refundFails, disputed(0), collectedAnew(1), coolOff, givesBack],
    { by: [2], refunds: ['400 provider waived', coolingOffGiven], refunded_pence: 2875, held: 0 },
  ],
  [
    'parts that make up what was paid twice are one payment, not two, also once the other is lost and won',
    [cardAndDebit, byHand(1, 400), byHand(0, 2875), disputed(1), won(1)],
    {
      by: [2],
      refunds: ['400 paid_twice refunded', '2475 paid_twice refunded', '400 provider refunded'],
      refunded_pence: 400,
      held: 2475,
    },
  ],
  [
    'what is given back of the card is recorded whole beside a part of a debit that was lost',
    [disputed(0), collectedAnew(1), byHand(1, 400), disputed(1), won(0), byHand(0, 2875)],
    { refunds: ['400 provider refunded', '2875 provider refunded'], refunded_pence: 3275, held: -400 },
  ],
  [
    'what was made, and failed after a dispute that nobody has told of, is made again by the team',
    [
      coolOff,
      givesBackUntilKilled('done'),
      untold.disputed,
      untold.won,
      untold.refundFails,
      givesBack,
      teamTriesAgain,
      givesBack,
    ],
    { refunds: [coolingOffGiven], refunded_pence: 2875, held: 0 },
  ],
  [
    'what was asked of a cancelled policy, given back in part by hand, and won, is given back whole',
    [coolOff, givesBackUntilKilled('asked'), disputed(0), byHand(0, 50), won(0), untold.refundFails, givesBack],
    { refunds: [coolingOffGiven], refunded_pence: 2875, held: 0 },
  ],
  [
    'a debit that pays once the card is lost is given back of a policy that was cancelled',
    [bothWon, coolOff, disputed(0), givesBack],
    { by: [2], refunds: [twiceWaived, coolingOffGiven], refunded_pence: 2875, held: 0 },
  ],
  [
    'what is given back by hand after the whole has failed is recorded beside it',
    [byHand(0, 2875), disputed(0), collectedAnew(1), refundFails(0), byHand(1, 400), won(0), givesBack, disputed(1)],
    {
      by: [1],
      refunds: ['2875 provider waived', '400 provider refunded', '400 paid_twice waived', '2475 paid_twice refunded'],
      held: 0,
    },
  ],
  [
    'a payment that was given back pays for none of two that stood beside the one that is asked for',
    [cardAndDebit, byHand(1, 2875), disputed(1), won(1), disputed(0)],
    { status: 'failed', by: [], refunds: [twiceGiven], held: 0 },
  ],
]

describe.each([
  ['a premium by Direct Debit', false, byDebit],
  ['a first premium by card', true, [...byCard, ...wrongOnce]],
] as const)('of %s', (_how, isByCard, histories) => {
  test.each(histories)('%s', (_title, happened, { held, ...then }) => {
    const world = openAfter(isByCard, happened)

    expect(standOf(world)).toMatchObject(then)
    finish(world)
    expectItToAddUp(world)
    expect(heldBy(world)).toBe(held)
  })
})
