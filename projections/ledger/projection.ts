import { applicationEvents } from '#domain/applications/events.ts'
import { organisationEvents } from '#domain/access/events.ts'
import { organisationOf, type RecordedEvent } from '#domain/event.ts'
import { accounts, bookOf, type Account, type Amounts, type DayTotals } from '#domain/ledger/record.ts'
import { paymentEvents, paymentStreamEvents } from '#domain/payments/events.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { premiumEvents } from '#domain/premiums/events.ts'
import { dateIn } from '#domain/time-zone.ts'
import { derivedId } from '#infra/ids.ts'
import type { ColumnType, Projection } from '../projection.ts'
import { effectsOf, type Find, type Posting } from './postings.ts'
import {
  entryId,
  keysOf,
  noEntry,
  subjects,
  type Documents,
  type Key,
  type LedgerEvent,
  type Part,
  type Row,
} from './row.ts'

const { OrganisationRegistered, OrganisationChanged } = organisationEvents
const { ApplicationStarted } = applicationEvents
const { PolicyBound } = policyEvents
const {
  BankDetailsSaved: _saved,
  MandateSessionOpened: _opened,
  MandateCreated: _created,
  MandateActivated: _activated,
  MandateFailed: _failed,
  MandateCancelled: _cancelled,
  ...cardPaymentEvents
} = paymentEvents

const events = {
  OrganisationRegistered,
  OrganisationChanged,
  ApplicationStarted,
  PolicyBound,
  ...premiumEvents,
  ...cardPaymentEvents,
  ...paymentStreamEvents,
}

const amountColumns = Object.fromEntries(accounts.map((account) => [account, 'bigint'])) as Record<Account, ColumnType>

/**
 * The ledger: an entry for every event that moves money, or changes what is owed, and the totals of each day. What an event moves
 * is the difference of two positions: so each entry balances, and made again from the events, the ledger is the same.
 */
export const ledger: Projection<typeof events, Row, 'organisation_id' | 'part' | 'id'> = {
  name: 'ledger',
  version: 6,
  categories: ['organisation', 'application', 'policy', 'payment'],
  events,
  // What a payment has brought may be told on three streams.
  sharesRows: true,
  // Nobody who sells waits for it: an entry stands there a moment after its event.
  awaited: 'never',
  table: {
    columns: {
      organisation_id: 'uuid',
      part: 'text',
      id: 'text',
      currency_code: 'text',
      test: 'boolean',
      posted_at: 'timestamptz',
      posted_on: 'date',
      policy_id: 'uuid',
      premium_id: 'uuid',
      payment_id: 'uuid',
      is_open: 'boolean',
      ...amountColumns,
      document: 'json',
    },
    key: ['organisation_id', 'part', 'id'],
    indexes: [
      "organisation_id, posted_at, id where part = 'entry'",
      'organisation_id, policy_id, posted_at, id where policy_id is not null',
      'organisation_id, premium_id, posted_at, id where premium_id is not null',
      'organisation_id, payment_id, posted_at, id where payment_id is not null',
      'organisation_id, id where is_open',
      ...accounts.map((account) => `organisation_id, posted_at, id where ${account} is not null`),
    ],
  },

  keys: keysOf,

  project: (row, event, recorded, key, before = () => undefined) => {
    const find = findIn(key.organisation_id, before)
    switch (key.part) {
      case 'organisation':
        return timeZoneOf(row, event, key)
      case 'application':
        return event.type === 'ApplicationStarted' && event.stripe_test_mode
          ? { ...noEntry, ...key, document: { test: true } }
          : row
      case 'policy':
      case 'premium':
      case 'payment': {
        const document = effectsOf(event, recorded, find)[key.part]
        return document ? { ...noEntry, ...key, is_open: isOpen(document), document } : row
      }
      case 'day':
        return dayOf(recorded, find) === key.id ? withPosted(row, effectsOf(event, recorded, find).postings, key) : row
      case 'entry': {
        const posting = effectsOf(event, recorded, find).postings.find(
          ({ subject }) => entryId(recorded, subject) === key.id,
        )
        return posting ? entryOf(posting, event, recorded, find) : row
      }
    }
  },
}

const findIn =
  (organisation_id: string, before: (key: Key) => Row | undefined): Find =>
  <Name extends Part>(part: Name, id: string) =>
    before({ organisation_id, part, id })?.document as Documents[Name] | undefined // as a row holds what its part says

/** Few are at any time: whoever looks for those finds them without the others. */
const isOpen = (book: Documents['policy' | 'premium' | 'payment']): true | null => {
  const some = 'attempts' in book ? Object.values(book.attempts) : 'is_open' in book ? [book] : []
  return some.some(({ is_open }) => is_open) || null
}

const timeZoneOf = (row: Row | undefined, event: LedgerEvent, key: Key): Row | undefined =>
  event.type === 'OrganisationRegistered' || event.type === 'OrganisationChanged'
    ? { ...noEntry, ...key, document: { time_zone: event.time_zone } }
    : row

/** The day on which something was posted, where the organisation is. */
const dayOf = (recorded: RecordedEvent, find: Find): string => {
  const { time_zone = 'UTC' } = find('organisation', organisationOf(recorded)) ?? {}
  return dateIn(time_zone, new Date(recorded.metadata.occurred_at).toISOString())
}

const withPosted = (row: Row | undefined, postings: readonly Posting[], key: Key): Row | undefined => {
  if (postings.length === 0) return row
  let totals = (row?.document ?? {}) as DayTotals // of the row of a day
  for (const { currency_code, test, lines } of postings) {
    const book = bookOf(currency_code, test)
    totals = { ...totals, [book]: sidesWith(totals[book] ?? {}, lines) }
  }
  return { ...noEntry, ...key, posted_on: key.id, document: totals }
}

const sidesWith = (sides: DayTotals[string], lines: Amounts): DayTotals[string] =>
  Object.fromEntries(
    accounts.flatMap((account) => {
      const [debit, credit] = sides[account] ?? [0, 0]
      const pence = lines[account] ?? 0
      const now = [debit + Math.max(0, pence), credit + Math.max(0, -pence)] as const
      return now[0] === 0 && now[1] === 0 ? [] : [[account, now]]
    }),
  )

const entryOf = (posting: Posting, event: LedgerEvent, recorded: RecordedEvent, find: Find): Row => {
  const { subject, kind, lines, payment_intent_id, ...about } = posting
  const { id: event_id, metadata } = recorded
  const place = subjects.indexOf(subject)
  const document = {
    id: derivedId('ledger_entry', event_id, String(place)),
    kind,
    event_id,
    payment_intent_id,
    provider_refund_id: subject === 'payment' ? named(event, 'provider_refund_id') : null,
    provider_dispute_id: subject === 'payment' ? named(event, 'provider_dispute_id') : null,
  }
  return {
    ...noEntry,
    ...about,
    ...lines,
    organisation_id: organisationOf(recorded),
    part: 'entry',
    id: entryId(recorded, subject),
    posted_at: metadata.occurred_at,
    posted_on: dayOf(recorded, find),
    document,
  }
}

const named = (event: LedgerEvent, name: 'provider_refund_id' | 'provider_dispute_id'): string | null => {
  const value: unknown = name in event ? event[name as keyof LedgerEvent] : null
  return typeof value === 'string' ? value : null
}
