import type { LeadEvent } from '#domain/leads/events.ts'
import { lead } from '#domain/leads/lead.ts'
import { evolveShown } from '#domain/leads/record.ts'
import { CampaignId } from '#domain/values.ts'
import { rejected, scenariosOf } from '../scenario.ts'
import {
  about,
  act,
  at,
  contact_id,
  created,
  formSentIn,
  ingest,
  organisation_id,
  partner,
  receive,
  website,
} from './builders.ts'

const scenario = scenariosOf(lead)

const facts = (values: Record<string, string>, mode: 'store' | 'propose') =>
  ({ type: 'RecordFacts', facts: values, ingest_id: ingest(1), mode }) as const
const recorded = (values: Record<string, string>) =>
  ({ type: 'LeadFactsRecorded', ...about, keys: Object.keys(values), facts: values, ingest_id: ingest(1) }) as const

const summer = { id: CampaignId.parse('71000000-0000-4000-8000-000000000009'), key: 'summer' }

scenario('a person who is sent in becomes a lead at the first open stage, with its deadlines', {
  given: [],
  when: act(receive()),
  then: [created],
})
scenario('the same ingest makes a lead once', { given: [created], when: act(receive()), then: [] })

const shown = evolveShown(undefined, created, { occurred_at: at })
const back: Extract<LeadEvent, { type: 'LeadSentAgain' }> = {
  type: 'LeadSentAgain',
  ...about,
  seen_by: [website, partner],
  organisation_id,
  contact_id,
  api_application_id: partner,
  source: 'partner',
  source_reference: null,
  ingest_id: ingest(2),
  external_system_id: null,
  external_id_of: [],
  shown: shown ?? null,
}
scenario('a returning person is the same lead, seen by both senders from then on, and leaves a form', {
  given: [created],
  when: act(receive({ api_application_id: partner, source: 'partner', ingest_id: ingest(2) })),
  then: [back, { ...formSentIn, seen_by: [website, partner] }],
})
scenario('an application that sends the lead again is not told what it knows', {
  given: [created],
  when: act(receive({ ingest_id: ingest(2) })),
  then: [{ ...back, seen_by: [website], api_application_id: website, source: 'website', shown: null }, formSentIn],
})
scenario('an event that an ingest causes carries the campaign of that ingest, and the lead keeps its first', {
  given: [created],
  when: act(facts({ smoker: 'no' }, 'store'), {
    campaign: summer,
  }),
  then: [
    {
      ...recorded({ smoker: 'no' }),
      campaign: summer,
    },
  ],
})

scenario('facts are recorded with their keys', {
  given: [created],
  when: act(facts({ smoker: 'no' }, 'propose')),
  then: [recorded({ smoker: 'no' })],
})
scenario('a fact that is held already is not recorded again', {
  given: [created, recorded({ smoker: 'no' })],
  when: act([facts({ smoker: 'no' }, 'propose'), facts({ smoker: 'no' }, 'store')]),
  then: [],
})
scenario('a value that was read and differs from the one held is proposed', {
  given: [created, recorded({ smoker: 'no' })],
  when: act(facts({ smoker: 'yes' }, 'propose')),
  then: [{ type: 'LeadFactsProposed', ...about, proposed: { smoker: 'yes' }, ingest_id: ingest(1) }],
})
scenario('a declared value replaces the one held', {
  given: [created, recorded({ smoker: 'no' })],
  when: act(facts({ smoker: 'yes' }, 'store')),
  then: [recorded({ smoker: 'yes' })],
})
scenario('several acts are one append, each decided on what the ones before have made of the lead', {
  given: [],
  when: act([receive(), facts({ smoker: 'no' }, 'store'), facts({ smoker: 'yes' }, 'propose')]),
  then: [
    created,
    recorded({ smoker: 'no' }),
    { type: 'LeadFactsProposed', ...about, proposed: { smoker: 'yes' }, ingest_id: ingest(1) },
  ],
})
scenario('nothing is recorded of a person who is no lead', {
  given: [],
  when: act(facts({ smoker: 'no' }, 'store')),
  then: rejected('not_found'),
})

const many = (count: number, text: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${text.slice(0, 1)}_${index}`, text]))
const kept = recorded({ ...many(1_500, 'a') })
scenario('a lead holds 2,000 facts: what is sent beyond them changes nothing', {
  given: [created, kept, recorded(many(500, 'b'))],
  when: act(facts({ ...many(10, 'c') }, 'store')),
  then: [],
})
scenario('a lead holds so much of facts, and takes in what still fits', {
  given: [created, recorded({ long: 'x'.repeat(590_000) })],
  when: act(facts({ longer: 'y'.repeat(20_000), short: 'z' }, 'propose')),
  then: [recorded({ short: 'z' })],
})
