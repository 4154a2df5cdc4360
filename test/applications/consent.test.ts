import { describe, expect, test } from 'vitest'
import { consentAnswered, consentFaults, softOptIns } from '#domain/applications/consent.ts'
import type { ConsentOptOut, Presentation } from '#domain/catalogue/record.ts'
import { QuoteId } from '#domain/values.ts'
import { guidedPresentation, shortPresentation, standardPresentation } from './release.ts'

/** What the boxes and the marketing question of the details stage say about being contacted. */

const box = (key: string, changes: Partial<ConsentOptOut> = {}): ConsentOptOut => ({
  key,
  label: `${key}?`,
  purpose: 'first_party_marketing',
  channels: ['email'],
  basis: 'soft_opt_in',
  ...changes,
})
const [details] = standardPresentation.stages
if (!details) throw new Error('The presentation has no stage.')

const withBoxes = (...consent_opt_outs: readonly ConsentOptOut[]): Presentation => ({
  ...standardPresentation,
  stages: [{ ...details, config: { ...details.config, consent_opt_outs: [...consent_opt_outs] } }],
})
const quoted = [
  {
    quote: { id: QuoteId.parse('d0000000-0000-4000-8000-000000000001'), status: 'current' as const },
    inputs_digest: null,
  },
]

describe('a ticked box', () => {
  const shown = withBoxes(
    box('no_email', { channels: ['email', 'post'] }),
    box('no_partners', { purpose: 'third_party_marketing', channels: ['phone'] }),
  )
  const ticked = (consent_answers: Record<string, false> | null) =>
    consentAnswered(shown, { consent_answers, marketing_answers: null })

  test('refuses its purpose over its channels, in its words', () => {
    expect(ticked({ no_email: false, no_partners: false })).toEqual([
      {
        entries: [
          { purpose: 'first_party_marketing', channel: 'email', state: 'refused', basis: 'soft_opt_in' },
          { purpose: 'first_party_marketing', channel: 'post', state: 'refused', basis: 'soft_opt_in' },
        ],
        method: 'opt-out box',
        wording: 'no_email?',
      },
      {
        entries: [{ purpose: 'third_party_marketing', channel: 'phone', state: 'refused', basis: 'soft_opt_in' }],
        method: 'opt-out box',
        wording: 'no_partners?',
      },
    ])
  })

  test('says nothing of the others', () => {
    expect(ticked({ no_partners: false }).map(({ wording }) => wording)).toEqual(['no_partners?'])
    expect(ticked({})).toEqual([])
    expect(ticked(null)).toEqual([])
  })

  test('is one of the presentation that the application has', () => {
    const answers = { consent_answers: { no_email: false as const }, marketing_answers: null }

    expect(consentAnswered(shortPresentation, answers)).toEqual([])
    expect(consentAnswered(guidedPresentation, answers)).toEqual([])
    expect(consentAnswered(null, answers)).toEqual([])
  })
})

describe('the marketing question', () => {
  const answered = (presentation: Presentation | null, marketing_answers: Record<string, boolean> | null) =>
    consentAnswered(presentation, { consent_answers: null, marketing_answers })
  const entry = (channel: string, state: string) => ({
    purpose: 'first_party_marketing',
    channel,
    state,
    basis: 'consent',
  })

  test('grants or refuses each channel, in its words', () => {
    expect(answered(standardPresentation, { email: true, sms: false })).toEqual([
      {
        entries: [entry('email', 'granted'), entry('sms', 'refused')],
        method: 'marketing question',
        wording: 'May we write to you?',
      },
    ])
  })

  test('that was not answered says nothing', () => {
    expect(answered(standardPresentation, null)).toEqual([])
    expect(answered(standardPresentation, {})).toEqual([])
  })

  test('that was asked in words which we do not know has none', () => {
    for (const presentation of [shortPresentation, null])
      expect(answered(presentation, { post: true })).toEqual([
        { entries: [entry('post', 'granted')], method: 'marketing question', wording: null },
      ])
  })
})

describe('a box left alone', () => {
  const alone = (presentation: Presentation | null, changes: Partial<Parameters<typeof softOptIns>[1]> = {}) =>
    softOptIns(presentation, { consent_answers: {}, boxes_shown: true, quotes: quoted, ...changes })
  const granted = (...channels: readonly string[]) => [
    {
      entries: channels.map((channel) => ({
        purpose: 'first_party_marketing',
        channel,
        state: 'granted',
        basis: 'soft_opt_in',
      })),
      method: 'opt-out box left alone',
      wording: 'no_email?',
    },
  ]

  test('grants marketing of the firm’s own by email and text message, once the customer was quoted', () => {
    const all = withBoxes(box('no_email', { channels: ['email', 'sms', 'whatsapp', 'phone', 'post'] }))

    expect(alone(all)).toEqual(granted('email', 'sms'))
    expect(alone(withBoxes(box('no_email', { channels: ['sms'] })))).toEqual(granted('sms'))
  })

  test('says nothing before the customer was quoted, or when the boxes were not shown', () => {
    const shown = withBoxes(box('no_email'))

    expect(alone(shown)).toEqual(granted('email'))
    expect(alone(shown, { quotes: [] })).toEqual([])
    expect(alone(shown, { boxes_shown: false })).toEqual([])
  })

  test('says nothing over other channels, or of third parties', () => {
    expect(alone(withBoxes(box('no_post', { channels: ['post', 'phone', 'whatsapp'] })))).toEqual([])
    expect(alone(withBoxes(box('no_partners', { purpose: 'third_party_marketing' })))).toEqual([])
    expect(alone(null)).toEqual([])
  })

  test('is not one that was ticked', () => {
    const both = withBoxes(box('no_email'), box('no_texts', { channels: ['sms'] }))

    expect(alone(both, { consent_answers: { no_texts: false } })).toEqual(granted('email'))
  })
})

describe('what cannot be used is named', () => {
  test('a box that the presentation does not show, and one that is not false', () => {
    expect(
      consentFaults(standardPresentation, { no_email: false, no_partners: true, no_post: false }, undefined),
    ).toEqual({
      'consent_answers.no_partners': 'must be false: send only the boxes that are ticked',
      'consent_answers.no_post': 'is not an opt-out of this presentation',
    })
  })

  test('a channel that there is not, and an answer that is not yes or no', () => {
    expect(
      consentFaults(standardPresentation, undefined, { email: true, post: false, pigeon: true, sms: 'yes' }),
    ).toEqual({
      'marketing_answers.pigeon': 'must be one of email, sms, whatsapp, phone, post',
      'marketing_answers.sms': 'must be true or false',
    })
  })

  test('nothing where nothing was sent', () => {
    expect(consentFaults(standardPresentation, undefined, undefined)).toEqual({})
    expect(consentFaults(null, {}, {})).toEqual({})
  })
})
