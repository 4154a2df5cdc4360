import { createHash } from 'node:crypto'
import type { BindableAt } from '#domain/applications/bindable.ts'
import type { Release } from '#domain/catalogue/events.ts'
import type { KeyDocument } from '#domain/checkout/events.ts'
import { plainCheckout } from '../applications/release.ts'
import { firstId, journeyWith, now, termRelease } from '../quotes/builders.ts'

/** What the tests of checkout have in common: a product of which everything must be confirmed before it is bought. */

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const documentOf = (index: number, kind: string, changes: Partial<KeyDocument> = {}): KeyDocument => ({
  document_id: `d1000000-0000-4000-8000-00000000000${index}`,
  version_id: `d2000000-0000-4000-8000-00000000000${index}`,
  kind,
  name: kind,
  given: 'before_bind',
  url: `https://acme.example/${kind}.pdf`,
  file: null,
  ...changes,
})

export const disclosure = documentOf(1, 'initial_disclosure')
export const keyFacts = documentOf(2, 'key_facts', {
  url: null,
  file: { sha256: 'a'.repeat(64), media_type: 'application/pdf', bytes: 4 },
})
export const terms = documentOf(3, 'policy_terms', { given: 'after_bind' })

export const fullCheckout: Release['checkout'] = {
  ...plainCheckout,
  demands_and_needs: { required: true, statement: 'You want {cover_amount} for {term_years} years.' },
  key_documents: [disclosure, keyFacts, terms],
  cancellation: { statement: 'You can cancel within {cooldown_days} days.', given: 'before_bind' },
  confirmation: {
    intro: 'You buy {product_name}:',
    points: ['{cover_amount} of cover', '{premium} a month', 'From {start_date}'],
    question: 'Is that right?',
  },
}

export const checkoutRelease = (changes: Partial<Release['checkout']> = {}): Release => ({
  ...termRelease,
  journeys: [journeyWith('smoker')],
  checkout: { ...fullCheckout, ...changes },
})

export const bindableAt = (changes: Partial<BindableAt> = {}): BindableAt => ({ now, digest: sha256, ...changes })

export const confirm = (release: Release = checkoutRelease(), changes: { readonly now?: string } = {}) =>
  ({ type: 'ConfirmSteps', quote_id: firstId, release, ...bindableAt(), ...changes }) as const
