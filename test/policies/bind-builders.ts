import type { BindQuote } from '#domain/applications/bind.ts'
import type { Release } from '#domain/catalogue/events.ts'
import { ApiApplicationId, PolicyId } from '#domain/values.ts'
import { answered, covered, customerSaved, started } from '../applications/builders.ts'
import { bindableAt, checkoutRelease, confirm, sha256 } from '../checkout/builders.ts'
import { after, decided, firstId, journeyWith, quote } from '../quotes/builders.ts'
import { tables } from '../rating/request.ts'
import { anna, bankDetailsSaved } from './builders.ts'

/** The words of the scenarios about a sale: a quote that is ready to be bought, and what buys it. */

export const policy_id = PolicyId.parse('b0000000-0000-4000-8000-000000000001')
export const policy_number = 'POL-123456782'

export const bind = (changes: Partial<BindQuote> = {}): BindQuote => ({
  type: 'BindQuote',
  quote_id: firstId,
  release: checkoutRelease(),
  journey: journeyWith('smoker'),
  rate_tables: tables,
  ...bindableAt(),
  today: '2026-06-01',
  asked: { start_date: null, collection_day: null },
  caller: ApiApplicationId.parse('d0000000-0000-4000-8000-000000000001'),
  idempotency_key: null,
  policy_id,
  policy_number,
  is_sandbox: false,
  ...changes,
})

type Changes = {
  readonly started?: Parameters<typeof started>[0]
  readonly customer?: Partial<typeof anna>
  readonly release?: Release
  readonly start_date?: string
}

/** An application that was quoted, with bank details and without anything confirmed. */
export const quoted = ({ release = checkoutRelease(), customer = anna, start_date, ...changes }: Changes = {}) => {
  const given = [
    started({ inline_bacs_mandate: false, direct_debit_first: true, ...changes.started }),
    customerSaved(customer),
    answered({ smoker: false }),
    covered({ cover_amount_pence: 25_000_000, term_years: 25 }),
  ]
  return after(given, quote({ release, digest: sha256, start_date: start_date ?? null }))
}
export const confirmed = (changes: Changes = {}) => after(quoted(changes), confirm(changes.release))
export const ready = (changes: Changes = {}) => [...confirmed(changes), bankDetailsSaved(firstId)]
export const bought = (given = ready(), command = bind()) => {
  const event = decided(given, command).find(({ type }) => type === 'QuoteBought')
  if (event?.type !== 'QuoteBought') throw new Error('The quote was not bought.')
  return event
}
