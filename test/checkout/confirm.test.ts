import { describe, expect, test } from 'vitest'
import { application } from '#domain/applications/application.ts'
import type { ApplicationStreamEvent } from '#domain/applications/record.ts'
import { latestQuote } from '#domain/applications/state.ts'
import type { Release } from '#domain/catalogue/events.ts'
import { beforeYouBuy, shownSteps } from '#domain/checkout/record.ts'
import { covered } from '../applications/builders.ts'
import { after, applied, decided, now, quote, secondId } from '../quotes/builders.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'
import { checkoutRelease, confirm, disclosure, keyFacts, sha256 } from './builders.ts'

const scenario = scenariosOf(application)
const quoted = (release = checkoutRelease()) => after(applied(), quote({ release, digest: sha256 }))

/** What before_you_buy shows of the last quote of an application. */
const shown = (given: readonly ApplicationStreamEvent[], release: Release = checkoutRelease()) => {
  const state = stateOf(application, given, now)
  const last = state && latestQuote(state)?.quote
  if (!state || !last) throw new Error('There is no quote.')
  return beforeYouBuy({ release, quote: last, confirmed: state.record.confirmed }, sha256, 'https://service.example')
}

const nothing = {
  show: false,
  steps: [],
  demands_and_needs: null,
  key_documents: [],
  cancellation: null,
  confirmation: null,
}

describe('before you buy', () => {
  test('all that is owed is shown, with what the customer buys in the texts', () => {
    expect(shown(quoted())).toEqual({
      show: true,
      sellable: true,
      steps: [
        'initial_disclosure',
        'demands_and_needs',
        'key_documents_before_bind',
        'cancellation_rights_before_bind',
        'confirm_before_purchase',
      ],
      demands_and_needs: 'You want £250,000 for 25 years.',
      key_documents: [
        expect.objectContaining({ kind: 'initial_disclosure', url: disclosure.url }),
        expect.objectContaining({ url: `https://service.example/api/v1/key_documents/${keyFacts.version_id}` }),
      ],
      cancellation: { days: 30, statement: 'You can cancel within 30 days.' },
      confirmation: {
        intro: 'You buy Life:',
        points: ['£250,000 of cover', expect.stringMatching(/^£\d+\.\d\d a month$/), 'From 2 June 2026'],
        question: 'Is that right?',
      },
    })
  })

  test('what was shown can be shown again in its own words, with the digests that confirming it recorded', () => {
    const given = after(quoted(), confirm())
    const confirmed = given.flatMap((each) => (each.type === 'StepsConfirmed' ? each.steps : []))
    const state = stateOf(application, given, now)
    const last = state && latestQuote(state)?.quote
    if (!last) throw new Error('There is no quote.')
    const steps = shownSteps({ release: checkoutRelease(), quote: last, confirmed }, sha256)

    expect(steps).toMatchObject(confirmed)
    expect(steps.every(({ is_confirmed }) => is_confirmed)).toBe(true)
    expect(steps[1]).toMatchObject({ step: 'demands_and_needs', statement: 'You want £250,000 for 25 years.' })
    expect(steps[4]?.confirmation?.question).toBe('Is that right?')
    const others = checkoutRelease({ confirmation: null, cancellation: null })
    const changed = {
      ...others,
      checkout: { ...others.checkout, demands_and_needs: { required: true, statement: 'Other.' } },
    }
    expect(shownSteps({ release: changed, quote: last, confirmed }, sha256).map((each) => each.is_confirmed)).toEqual([
      true,
      false,
      true,
    ])
  })

  test('nothing is shown once everything was confirmed', () => {
    expect(shown(after(quoted(), confirm()))).toEqual({ ...nothing, sellable: true })
  })

  test('nothing is owed for a product that asks for nothing', () => {
    const release = checkoutRelease({
      demands_and_needs: { required: false, statement: null },
      key_documents: [],
      cancellation: null,
      confirmation: null,
    })

    expect(shown(quoted(release), release)).toEqual({ ...nothing, sellable: true })
  })

  test('a product with the rule on and no statement cannot be sold on a form, and nothing is owed', () => {
    const release = checkoutRelease({ demands_and_needs: { required: true, statement: null } })

    expect(shown(quoted(release), release)).toEqual({ ...nothing, sellable: false })
  })

  test('a point that names what the quote has not is left out', () => {
    const release = checkoutRelease({
      confirmation: { intro: 'Check', points: ['{term_years} years', '{premium}'], question: 'Yes?' },
    })
    const state = stateOf(application, quoted(release), now)
    const last = state && latestQuote(state)?.quote
    if (!last) throw new Error('There is no quote.')
    const endless = { ...last, term_years: null }

    expect(beforeYouBuy({ release, quote: endless, confirmed: [] }, sha256, '').confirmation?.points).toHaveLength(1)
  })
})

describe('confirming records the evidence', () => {
  test('of each step that was shown: the hash of its statement, the versions of its documents, the days', () => {
    const [event, ...others] = decided(quoted(), confirm())

    expect(others).toEqual([])
    expect(event).toMatchObject({
      type: 'StepsConfirmed',
      steps: [
        { step: 'initial_disclosure', documents: [{ version_id: disclosure.version_id }], statement_sha256: null },
        { step: 'demands_and_needs', statement_sha256: sha256('You want £250,000 for 25 years.'), documents: [] },
        { step: 'key_documents_before_bind', documents: [{ version_id: keyFacts.version_id }] },
        { step: 'cancellation_rights_before_bind', cancellation_days: 30 },
        { step: 'confirm_before_purchase', cancellation_days: null },
      ],
    })
  })

  test('once: confirming again changes nothing', () => {
    expect(decided(after(quoted(), confirm()), confirm())).toEqual([])
  })

  test('re-quoting carries over the steps whose content is the same', () => {
    const again = quote({ quote_id: secondId, release: checkoutRelease(), digest: sha256, start_date: '2026-06-20' })
    const requoted = after(after(quoted(), confirm()), again)

    // Only the read-back names the day on which cover starts.
    expect(shown(requoted).steps).toEqual(['confirm_before_purchase'])
    expect(shown(requoted)).toMatchObject({
      show: true,
      demands_and_needs: null,
      key_documents: [],
      cancellation: null,
    })
    const [event] = decided(requoted, { ...confirm(), quote_id: secondId })
    expect(event).toMatchObject({ quote_id: secondId, steps: [{ step: 'confirm_before_purchase' }] })
  })

  test('a right to cancel for another number of days is shown again, although its statement names none', () => {
    const cancellation = { statement: 'You can cancel.', given: 'before_bind' } as const
    const release = checkoutRelease({ cancellation })
    const confirmed = after(quoted(release), confirm(release))

    expect(shown(confirmed, release).steps).toEqual([])
    expect(shown(confirmed, { ...release, cooldown_days: 14 })).toMatchObject({
      steps: ['cancellation_rights_before_bind'],
      cancellation: { days: 14 },
    })
  })

  test('another version of a document is shown again', () => {
    const release = checkoutRelease({
      key_documents: [disclosure, { ...keyFacts, version_id: 'd2000000-0000-4000-8000-000000000009' }],
    })

    expect(shown(after(quoted(), confirm()), release).steps).toEqual(['key_documents_before_bind'])
  })
})

describe('confirming is refused', () => {
  scenario('409 quote_expired: the time of the quote is over', {
    given: quoted(),
    at: now,
    when: confirm(checkoutRelease(), { now: '2026-07-01T09:00:00.000Z' }),
    then: rejected('quote_expired'),
  })

  scenario('409 quote_not_bindable: the answers have changed since', {
    given: [...quoted(), covered({ cover_amount_pence: 30_000_000, term_years: 25 })],
    at: now,
    when: confirm(),
    then: rejected('quote_not_bindable'),
  })

  scenario('422 not_sellable: there is no statement of demands and needs', {
    given: quoted(),
    at: now,
    when: confirm(checkoutRelease({ demands_and_needs: { required: true, statement: null } })),
    then: rejected('not_sellable'),
  })
})
