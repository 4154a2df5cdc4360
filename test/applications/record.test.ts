import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isAsked } from '#domain/applications/answers.ts'
import { application, type ApplicationCommand } from '#domain/applications/application.ts'
import { applicationStreamEvents, type ApplicationStreamEvent } from '#domain/applications/record.ts'
import { Rejection } from '#domain/rejection.ts'
import { applications } from '../../projections/applications/projection.ts'
import { recorded } from '../recorded.ts'
import { rejected, scenariosOf } from '../scenario.ts'
import { fullJourney, organisation_id } from './release.ts'
import { anna, application_id, given, save, saveCustomer, start } from './builders.ts'

/** What comes of commands one after another, those that are refused left out. */
const happened = (commands: readonly ApplicationCommand[]) => {
  const at = (index: number) => ({
    occurred_at: new Date(Date.UTC(2026, 0, 15, 12, index)).toISOString(),
    actor: { type: 'system', id: null } as const,
  })
  const events: (readonly [ApplicationStreamEvent, { readonly occurred_at: string }])[] = []
  let state = application.initialState
  commands.forEach((command, index) => {
    for (const event of accepted(command, state)) {
      events.push([event, at(index)])
      state = application.evolve(state, event, at(index))
    }
  })
  return { state, events }
}

const accepted = (command: ApplicationCommand, state: typeof application.initialState) => {
  try {
    return application.decide(command, state)
  } catch (error) {
    if (error instanceof Rejection) return []
    throw error
  }
}

const answer = fc.constantFrom<unknown>(
  true,
  false,
  null,
  20,
  40,
  1,
  180,
  '1990-01-15',
  'clerk',
  'miner',
  ['asthma'],
  ['gout', 'cancer'],
)
const answers = fc.dictionary(fc.constantFrom(...fullJourney.questions.map(({ key }) => key)), answer, { maxKeys: 2 })
const command: fc.Arbitrary<ApplicationCommand> = fc.oneof(
  { weight: 6, arbitrary: answers.map((sent) => save({ answers: sent })) },
  fc.integer({ min: 1, max: 45 }).map((term_years) => save({ term_years })),
  fc.constantFrom(0, 1, 2).map((cover_index) => save({ components: [{ cover_index, selected: true }] })),
  fc.constantFrom(anna, { dob: '1990-01-15' }).map((details) => saveCustomer(given(details))),
  fc.constant(start({ caller: 'browser' })),
)

test('the read model holds what the command side knows, whatever was commanded', () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 12 }), (commands) => {
      const { state, events } = happened([start(), ...commands])
      const key = { organisation_id, id: application_id }
      let row: Parameters<typeof applications.project>[0]
      for (const [event, { occurred_at }] of events)
        for (const one of recorded(applicationStreamEvents, `application-${application_id}`, [event], {
          organisation_id,
          occurred_at,
        })) {
          expect(applications.keys(event, one)).toEqual([key])
          row = applications.project(row, event, one, key)
        }
      expect(row?.document).toEqual(state?.record)
      expect(row).toMatchObject({ ...key, status: state?.record.status, updated_at: state?.record.updated_at })
    }),
  )
})

test('only answers to what is asked are held, and the same command again changes nothing', () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 12 }), (commands) => {
      const { state } = happened([start(), ...commands])
      const { risk_factors } = state?.record ?? { risk_factors: {} }
      const vain = fullJourney.questions.filter(
        (question) => Object.hasOwn(risk_factors, question.key) && !isAsked(question, risk_factors),
      )
      expect(vain).toEqual([])
      const last = commands.at(-1)
      if (last) expect(accepted(last, state)).toEqual([])
    }),
  )
})

scenariosOf(application)('nothing can be saved into an application that was never started', {
  given: [],
  when: saveCustomer(given()),
  then: rejected('not_found'),
})
