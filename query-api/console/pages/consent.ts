import { ConsentPurpose } from '#domain/campaigns/events.ts'
import type { ConsentHeld } from '#domain/customers/record.ts'
import type { MarketingPermission } from '#domain/leads/record.ts'
import { Channel } from '#domain/values.ts'
import { act, choicesOf, type Act } from '../act.ts'
import { apiOf } from '../page.ts'
import { badge, empty, label, moment, section, table, words, type Choice, type Tone } from '../show.ts'
import { h, type View } from '../view.ts'

/** Purposes as people name them. */
const purposes: Readonly<Record<ConsentPurpose, string>> = {
  service: 'Service messages',
  first_party_marketing: 'Our own marketing',
  third_party_marketing: 'Marketing of others',
}

const states: Readonly<Record<ConsentHeld['state'], { readonly said: string; readonly tone: Tone }>> = {
  granted: { said: 'agreed', tone: 'good' },
  refused: { said: 'refused', tone: 'bad' },
  withdrawn: { said: 'withdrawn', tone: 'bad' },
}

const answers: readonly Choice[] = [
  ['withdrawn', 'withdraw their consent'],
  ['refused', 'refuse'],
  ['granted', 'agree'],
]

type Person = { readonly organisation_id: string; readonly contact_id: string }

const recordAnswer = ({ organisation_id, contact_id }: Person): Act => ({
  title: 'Record a withdrawal or a new consent',
  method: 'POST',
  address: apiOf(organisation_id, `people/${contact_id}/consent`),
  fields: [
    { name: 'entries.0.state', label: 'What they said', kind: 'choice', choices: answers, isRequired: true },
    {
      name: 'entries.0.channel',
      label: 'Channel',
      kind: 'choice',
      choices: choicesOf(Channel.options),
      isRequired: true,
    },
    {
      name: 'entries.0.purpose',
      label: 'What it is about',
      kind: 'choice',
      choices: ConsentPurpose.options.map((purpose) => [purpose, purposes[purpose]]),
      isRequired: true,
    },
    { name: 'method', label: 'How they said so', kind: 'text', hint: 'Such as: by phone.', isRequired: true },
  ],
  ask: 'Whatever goes to them by that channel and for that purpose is decided by it from now on.',
})

type Of = Person & {
  readonly consent: readonly ConsentHeld[]
  readonly marketing: readonly MarketingPermission[]
}

/** The answers of a person, the way to record what they say now, and what follows from both. */
export const consentOf = (person: Of, mayAct: boolean): View =>
  section(
    'Consent: what they agreed to',
    person.consent.length === 0
      ? empty('No answer of theirs is recorded. What they say now can be recorded all the same.')
      : table(
          'Consent',
          [
            { title: 'Channel', show: ({ channel }) => label(channel) },
            { title: 'For', show: ({ purpose }) => purposes[purpose] },
            { title: 'Answer', show: ({ state }) => badge(states[state].said, states[state].tone) },
            { title: 'Since', show: ({ said_at }) => moment(said_at) },
            { title: 'How', show: ({ method }) => words(method) },
          ],
          person.consent,
        ),
    mayAct && act(recordAnswer(person)),
    h('h3', {}, 'May we send them our own marketing, or call?'),
    table(
      'Marketing by channel',
      [
        { title: 'Channel', show: ({ channel }) => label(channel) },
        { title: 'Allowed', show: ({ allowed }) => (allowed ? badge('yes', 'good') : badge('no', 'bad')) },
        { title: 'Because', show: ({ reason }) => words(reason) },
      ],
      person.marketing,
    ),
  )
