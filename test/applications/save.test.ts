import { expect, test } from 'vitest'
import { application } from '#domain/applications/application.ts'
import { endedBy } from '#domain/applications/endings.ts'
import type { ApplicationEvent } from '#domain/applications/events.ts'
import type { ApplicationStreamEvent } from '#domain/applications/record.ts'
import { CoverId, QuoteId } from '#domain/values.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'
import { illnessCover, lifeCover, planCover } from './release.ts'
import { annaId, answered, application_id, because, covered, declined, referred, save, started } from './builders.ts'

const scenario = scenariosOf(application)
const quoted = { type: 'QuoteAccepted', quote_id: QuoteId.parse(annaId), via: 'accept_quote' } as const
const outdated: ApplicationEvent = { type: 'AcceptanceOutdated', application_id }

scenario('answers are merged', {
  given: [started(), answered({ smoker: false })],
  when: save({ answers: { wine: true } }),
  then: [answered({ wine: true })],
})
scenario('null removes an answer', {
  given: [started(), answered({ smoker: false })],
  when: save({ answers: { smoker: null } }),
  then: [answered({}, 'smoker')],
})
scenario('what is held already changes nothing', {
  given: [started(), answered({ smoker: false }), covered({ term_years: 20 })],
  when: save({ answers: { smoker: false, wine: null }, term_years: 20 }),
  then: [],
})

for (const [name, sent, reason] of [
  ['smoker', 'no', 'true or false'],
  ['smoker', 1, 'true or false'],
  ['height_cm', 180.5, 'whole number'],
  ['height_cm', '180', 'whole number'],
  ['height_cm', 2 ** 53, 'whole number'],
  ['weight_kg', '80', 'a number'],
  ['weight_kg', 30, 'below 30.5'],
  ['weight_kg', 300.1, 'above 300'],
  ['born_on', '1990-02-30', 'a date'],
  ['born_on', '16.01.1990', 'a date'],
  ['born_on', '1899-12-31', 'below 1900-01-01'],
  ['born_on', '2026-01-01', 'above 2025-12-31'],
  ['reference', 5, 'text'],
  ['reference', ' ', 'empty'],
  ['reference', 'AB', 'shorter than 3'],
  ['reference', 'ABCDEFGHI', 'longer than 8'],
  ['reference', '👩👩', 'shorter than 3'],
  ['reference', 'abc', 'match'],
  ['reference', 'AB\u0000C', 'control characters'],
  ['reference', 'AB\ud800C', 'control characters'],
  ['work', 'baker', 'must be one of clerk, stuntman, pilot, miner'],
  ['work', ['clerk'], 'one of clerk'],
  ['conditions', 'gout', 'must be a list of one of asthma, gout, cancer, stroke'],
  ['conditions', ['gout', 'flu'], 'a list'],
  ['conditions', [['gout']], 'a list'],
  ['conditions', ['asthma', 'gout', 'cancer'], 'not select more than 2'],
  ['age', 30, 'worked out'],
  ['age', null, 'worked out'],
  ['shoe_size', 42, 'not a question'],
  ['shoe_size', null, 'not a question'],
] as const)
  scenario(`${JSON.stringify(sent)} is no answer to ${name}`, {
    given: [started()],
    when: save({ answers: { [name]: sent } }),
    then: rejected('validation_failed', { [`answers.${name}`]: reason }),
  })

scenario('a number that is too large to be held is no answer', {
  given: [started(), answered({ weight_kg: 80 })],
  when: save({ answers: { weight_kg: Number('1e400') } }),
  then: rejected('validation_failed', { 'answers.weight_kg': 'a number' }),
})
scenario('selections are kept in the order of the options, each once', {
  given: [started()],
  when: save({ answers: { conditions: ['gout', 'asthma', 'gout'] } }),
  then: [answered({ conditions: ['asthma', 'gout'] })],
})

scenario('a question that is not asked has no answer', {
  given: [started(), answered({ smoker: false })],
  when: save({ answers: { cigarettes: 10 } }),
  then: rejected('validation_failed', { 'answers.cigarettes': 'not asked' }),
})
scenario('nor has one that hangs on an answer not given yet', {
  given: [started()],
  when: save({ answers: { cigarettes: 10 } }),
  then: rejected('validation_failed', { 'answers.cigarettes': 'not asked' }),
})
scenario('the answer that it hangs on may come with it', {
  given: [started()],
  when: save({ answers: { brand: 'Any', cigarettes: 40, smoker: true } }),
  then: [answered({ brand: 'Any', cigarettes: 40, smoker: true })],
})
scenario('an answer drops those that are not asked any more, and those that hang on them', {
  given: [started(), answered({ smoker: true, cigarettes: 20, brand: 'Any', wine: true })],
  when: save({ answers: { smoker: false } }),
  then: [answered({ smoker: false }, 'cigarettes', 'brand')],
})
scenario('a removed answer drops what hangs on it', {
  given: [started(), answered({ smoker: true, cigarettes: 20, brand: 'Any' })],
  when: save({ answers: { cigarettes: null } }),
  then: [answered({}, 'cigarettes', 'brand')],
})
scenario('a selection is asked about when it contains the value', {
  given: [started(), answered({ conditions: ['asthma', 'gout'], inhaler: true })],
  when: save({ answers: { conditions: ['gout'] } }),
  then: [answered({ conditions: ['gout'] }, 'inhaler')],
})
scenario('a question may hang on a derived answer', {
  given: [started(), answered({ wine: false, beer: true, drinks: true, adult_note: 'x' })],
  when: save({ answers: { beer: false } }),
  then: [answered({ beer: false, drinks: false }, 'adult_note')],
})

scenario('derived answers follow from the others', {
  given: [started()],
  when: save({
    answers: {
      born_on: '1990-01-15',
      height_cm: 180,
      weight_kg: 81.4,
      salary: 0.1,
      bonus: 0.2,
      wine: false,
      beer: false,
    },
  }),
  then: [
    answered({
      born_on: '1990-01-15',
      height_cm: 180,
      weight_kg: 81.4,
      salary: 0.1,
      bonus: 0.2,
      wine: false,
      beer: false,
      age: 36,
      bmi: 25.1,
      earnings: 0.3,
      drinks: false,
    }),
  ],
})
for (const [weight_kg, bmi] of [
  [116.9, 39.9],
  [117, 40],
] as const)
  scenario(`a body mass index is cut off after one decimal place: ${weight_kg} kg at 171 cm is ${bmi}`, {
    given: [started()],
    when: save({ answers: { height_cm: 171, weight_kg } }),
    then: [answered({ height_cm: 171, weight_kg, bmi })],
  })
scenario('a derived answer is missing while one that it follows from is', {
  given: [started(), answered({ height_cm: 180, weight_kg: 81, bmi: 25 })],
  when: save({ answers: { weight_kg: null, salary: 5 } }),
  then: [answered({ salary: 5 }, 'weight_kg', 'bmi')],
})
for (const [today, age] of [
  ['2026-01-14', 35],
  ['2026-01-15', 36],
] as const)
  scenario(`on ${today} who was born on 1990-01-15 is ${age}`, {
    given: [started()],
    when: save({ answers: { born_on: '1990-01-15' }, today }),
    then: [answered({ born_on: '1990-01-15', age })],
  })

scenario('a birthday alone changes nothing', {
  given: [started(), answered({ born_on: '1990-01-16', age: 35 })],
  when: save({ answers: { born_on: '1990-01-16' }, today: '2026-01-16' }),
  then: [],
})

for (const [work, outcome] of [
  ['stuntman', 'decline'],
  ['pilot', 'postpone'],
  ['miner', 'refer'],
] as const)
  scenario(`choosing ${work} ends the application: ${outcome}`, {
    given: [started()],
    when: save({ answers: { work } }),
    then: [answered({ work }), endedBy('answer', outcome, because(work, outcome))],
  })
scenario('of several outcomes, to decline comes first', {
  given: [started()],
  when: save({ answers: { work: 'miner', conditions: ['cancer', 'stroke'] } }),
  then: [
    answered({ work: 'miner', conditions: ['cancer', 'stroke'] }),
    { type: 'ApplicationDeclined', ...because('stroke', 'decline') },
  ],
})
scenario('to decline comes before to postpone, whichever question comes first', {
  given: [started()],
  when: save({ answers: { work: 'pilot', conditions: ['stroke'] } }),
  then: [
    answered({ work: 'pilot', conditions: ['stroke'] }),
    { type: 'ApplicationDeclined', ...because('stroke', 'decline') },
  ],
})
scenario('then to postpone', {
  given: [started()],
  when: save({ answers: { work: 'pilot', conditions: ['cancer'] } }),
  then: [
    answered({ work: 'pilot', conditions: ['cancer'] }),
    endedBy('answer', 'postpone', because('pilot', 'postpone')),
  ],
})
scenario('an option chosen before does not end it again', {
  given: [started(), answered({ conditions: ['cancer'] })],
  when: save({ answers: { conditions: ['gout', 'cancer'] } }),
  then: [answered({ conditions: ['gout', 'cancer'] })],
})

const component = { cover_amount_pence: null, term_years: null, selected: null }

scenario('cover is saved as it is from now on', {
  given: [started(), covered({ cover_amount_pence: 5_000_000 })],
  when: save({ term_years: 25, components: [{ cover_index: 1, cover_amount_pence: 2_000_000, selected: true }] }),
  then: [
    covered({
      cover_amount_pence: 5_000_000,
      term_years: 25,
      components: [{ ...component, cover_id: illnessCover.id, cover_amount_pence: 2_000_000, selected: true }],
    }),
  ],
})
scenario('null takes a figure back', {
  given: [started(), covered({ cover_amount_pence: 5_000_000, term_years: 10 })],
  when: save({ cover_amount_pence: null }),
  then: [covered({ term_years: 10 })],
})
scenario('components are replaced as a whole', {
  given: [started(), covered({ components: [{ ...component, cover_id: lifeCover.id }] })],
  when: save({ components: [] }),
  then: [covered({})],
})
scenario('amount and term must fit one of the covers', {
  given: [started()],
  when: save({ cover_amount_pence: 100_000_001, term_years: 4 }),
  then: rejected('validation_failed', {
    cover_amount_pence: 'from 1000000 to 100000000',
    term_years: 'from 5 to 40',
  }),
})
scenario('the least and the greatest amount and term can be saved', {
  given: [started()],
  when: save({ cover_amount_pence: 1_000_000, term_years: 5, components: [{ cover_index: 0, term_years: 40 }] }),
  then: [
    covered({
      cover_amount_pence: 1_000_000,
      term_years: 5,
      components: [{ ...component, cover_id: lifeCover.id, term_years: 40 }],
    }),
  ],
})
scenario('the figures of a component must fit its cover', {
  given: [started()],
  when: save({
    components: [
      { cover_id: lifeCover.id, term_years: 40 },
      { cover_index: 1, cover_amount_pence: 30_000_000, term_years: 31 },
      { cover_index: 2, cover_amount_pence: 1_000_000, term_years: 5 },
    ],
  }),
  then: rejected('validation_failed', {
    'components[1].cover_amount_pence': 'to 20000000',
    'components[1].term_years': 'to 30',
    'components[2].cover_amount_pence': 'not wanted',
    'components[2].term_years': 'not wanted',
  }),
})
scenario('a component names one cover of the product, and each cover once', {
  given: [started()],
  when: save({
    components: [
      { cover_id: lifeCover.id, cover_index: 0 },
      {},
      { cover_index: 9 },
      { cover_id: CoverId.parse(annaId) },
      { cover_id: planCover.id, cover_index: 0 },
      { cover_index: 0 },
    ],
  }),
  then: rejected('validation_failed', {
    'components[1].cover_id': 'is needed',
    'components[2].cover_index': 'not a cover',
    'components[3].cover_id': 'not a cover',
    'components[4].cover_id': 'not a cover',
    'components[5].cover_index': 'earlier component',
  }),
})
scenario('everything that is wrong is told at once', {
  given: [started()],
  when: save({ answers: { smoker: 1 }, term_years: 99 }),
  then: rejected('validation_failed', { 'answers.smoker': '', term_years: '' }),
})

scenario('provenance fills gaps, and the first touch stays', {
  given: [started({ provenance: { page_url: 'https://a.example/', locale: 'en-GB' } })],
  when: save({ provenance: { page_url: 'https://b.example/', timezone: 'Europe/London' } }),
  then: [
    {
      type: 'ProvenanceSaved',
      provenance: { page_url: 'https://a.example/', locale: 'en-GB', timezone: 'Europe/London' },
    },
  ],
})
scenario('provenance that adds nothing changes nothing', {
  given: [started({ provenance: { locale: 'en-GB' } })],
  when: save({ provenance: { locale: 'fr', page_url: 'nowhere' } }),
  then: [],
})

scenario('a change of an answer outdates what was accepted', {
  given: [started(), answered({ smoker: false }), quoted],
  when: save({ answers: { smoker: true } }),
  then: [answered({ smoker: true }), outdated],
})
scenario('a change of cover outdates what was accepted', {
  given: [started(), quoted],
  when: save({ term_years: 20 }),
  then: [covered({ term_years: 20 }), outdated],
})
scenario('where the visitor came from does not', {
  given: [started(), quoted],
  when: save({ provenance: { locale: 'en' } }),
  then: [{ type: 'ProvenanceSaved', provenance: { locale: 'en' } }],
})
scenario('what is not accepted is not outdated', {
  given: [started()],
  when: save({ term_years: 20 }),
  then: [covered({ term_years: 20 })],
})

for (const end of [declined, referred])
  scenario(`nothing is saved after ${end.type}`, {
    given: [started(), end],
    when: save({ answers: { smoker: false } }),
    then: rejected('application_closed'),
  })
scenario('an application that was never started is unknown', {
  given: [],
  when: save({ term_years: 20 }),
  then: rejected('not_found'),
})

test('the status tells how far it is', () => {
  const statusAfter = (...events: readonly ApplicationStreamEvent[]) =>
    stateOf(application, [started(), ...events])?.record.status
  expect(statusAfter()).toBe('anonymous')
  expect(statusAfter(answered({ smoker: true }))).toBe('anonymous')
  expect(statusAfter(quoted)).toBe('quoted')
  expect(statusAfter(quoted, outdated)).toBe('in_capture')
  expect(statusAfter(declined)).toBe('declined')
  expect(statusAfter(referred)).toBe('referred')
})
