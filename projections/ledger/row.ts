import type { ApplicationEvent } from '#domain/applications/events.ts'
import type { OrganisationEvent } from '#domain/access/events.ts'
import { accounts, type Account, type DayTotals, type EntryDocument } from '#domain/ledger/record.ts'
import type { PaymentStreamEvent } from '#domain/payments/events.ts'
import type { PolicyEvent } from '#domain/policies/events.ts'
import type { PremiumEvent } from '#domain/premiums/events.ts'
import { categoryOf, idOf, organisationOf, type RecordedEvent } from '#domain/event.ts'
import type { CardPaymentEvent, PaymentBook } from './payment-book.ts'
import type { PolicyBook, PremiumBook } from './premium-book.ts'

export type LedgerEvent =
  | PremiumEvent
  | PaymentStreamEvent
  | CardPaymentEvent
  | Extract<PolicyEvent, { type: 'PolicyBound' }>
  | Extract<ApplicationEvent, { type: 'ApplicationStarted' }>
  | Extract<OrganisationEvent, { type: 'OrganisationRegistered' | 'OrganisationChanged' }>

/** The documents beside the entries: records that the next event is compared with, and the postings of each day. */
export type Documents = {
  readonly organisation: { readonly time_zone: string }
  /** Only of those whose payments are the test account's. */
  readonly application: { readonly test: true }
  readonly policy: PolicyBook
  readonly premium: PremiumBook
  readonly payment: PaymentBook
  readonly day: DayTotals
  readonly entry: EntryDocument
}
export type Part = keyof Documents

export type Row = Readonly<Record<Account, number | null>> & {
  readonly organisation_id: string
  readonly part: Part
  readonly id: string
  readonly currency_code: string | null
  readonly test: boolean | null
  readonly posted_at: string | null
  readonly posted_on: string | null
  readonly policy_id: string | null
  readonly premium_id: string | null
  readonly payment_id: string | null
  /** A payment, or one of a premium, that the banks have not answered yet; else null. */
  readonly is_open: true | null
  readonly document: Documents[Part]
}
export type Key = Pick<Row, 'organisation_id' | 'part' | 'id'>

const noAmounts = Object.fromEntries(accounts.map((account) => [account, null])) as Record<Account, null>

/** A row that is no entry has only its document. */
export const noEntry = {
  ...noAmounts,
  currency_code: null,
  test: null,
  posted_at: null,
  posted_on: null,
  policy_id: null,
  premium_id: null,
  payment_id: null,
  is_open: null,
} as const

/** The subject of an entry: an event may say something of a premium and of its payment. */
export const subjects = ['premium', 'payment'] as const
export type Subject = (typeof subjects)[number]

/** The order of entries is that of their events. */
export const entryId = ({ position }: RecordedEvent, subject: Subject): string => `${position} ${subject}`

const dayMs = 86_400_000

/** An instant falls on one of these days, wherever the organisation is. */
const daysAround = (instant: string): readonly string[] =>
  [-dayMs, 0, dayMs].map((ms) => new Date(Date.parse(instant) + ms).toISOString().slice(0, 10))

/** The records that an event is compared with, or changes. */
const recordsOf = (event: LedgerEvent, { stream }: RecordedEvent): readonly (readonly [Part, string])[] => {
  const id = idOf(stream)
  const policyOf = (policy_id: string | null | undefined) => (policy_id ? [['policy', policy_id] as const] : [])
  switch (categoryOf(stream)) {
    case 'policy':
      return [
        ['policy', id],
        ...('premium_id' in event && event.premium_id ? [['premium', event.premium_id] as const] : []),
      ]
    case 'payment':
      return [
        ['payment', id],
        ...(event.type === 'PaymentOpened'
          ? ([['application', event.application_id], ...policyOf(event.policy_id)] as const)
          : []),
        ...('premium_id' in event && event.premium_id ? [['premium', event.premium_id] as const] : []),
      ]
    case 'application':
      return [
        ['application', id],
        ...('payment_id' in event ? [['payment', event.payment_id] as const] : []),
        ...(event.type === 'CardPaymentReturned' ? policyOf(event.policy_id) : []),
      ]
    default:
      return []
  }
}

const postsNothing: readonly LedgerEvent['type'][] = [
  'OrganisationRegistered',
  'OrganisationChanged',
  'ApplicationStarted',
  'PolicyBound',
]

/** Every row that an event may touch. */
export const keysOf = (event: LedgerEvent, recorded: RecordedEvent): readonly Key[] => {
  const organisation_id = organisationOf(recorded)
  const days = daysAround(recorded.metadata.occurred_at).map((day) => ['day', day] as const)
  const entries = subjects.map((subject) => ['entry', entryId(recorded, subject)] as const)
  const posted = postsNothing.includes(event.type) ? [] : [...days, ...entries]
  return [['organisation', organisation_id] as const, ...recordsOf(event, recorded), ...posted].map(([part, id]) => ({
    organisation_id,
    part,
    id,
  }))
}
