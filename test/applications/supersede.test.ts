import { expect, test } from 'vitest'
import { application } from '#domain/applications/application.ts'
import type { SupersedeApplication } from '#domain/applications/supersede.ts'
import { nothingKnown } from '#domain/customers/record.ts'
import { ProductId } from '#domain/values.ts'
import { scenariosOf, stateOf } from '../scenario.ts'
import { fullJourney, plainJourney, product_id } from './release.ts'
import {
  anna,
  annaId,
  answered,
  application_id,
  bertId,
  customerSaved,
  declined,
  otherApplicationId,
  started,
} from './builders.ts'

const scenario = scenariosOf(application)
const at = '2026-01-15T12:00:00.000Z'
const supersede = (by: Partial<SupersedeApplication['by']> = {}, now = at): SupersedeApplication => ({
  type: 'SupersedeApplication',
  by: { id: otherApplicationId, product_id, journey_id: fullJourney.id, customer: null, ...by },
  now,
})
const abandoned = {
  type: 'ApplicationAbandoned',
  reason: 'superseded_by_retry',
  superseded_by: otherApplicationId,
} as const
const withId = (id: typeof annaId) => ({ customer: { ...nothingKnown, ...anna, id } })

scenario('an application whose start was retried with another key is given up', {
  given: [started()],
  when: supersede(),
  then: [abandoned],
})
scenario('also with its customer, who is the same', {
  given: [started(), customerSaved()],
  when: supersede(withId(annaId)),
  then: [abandoned],
})
scenario('an hour later it still is', {
  given: [started()],
  when: supersede({}, '2026-01-15T13:00:00.000Z'),
  then: [abandoned],
})
scenario('after more than an hour it is left as it was', {
  given: [started()],
  when: supersede({}, '2026-01-15T13:00:00.001Z'),
  then: [],
})
for (const [what, by] of Object.entries({
  product: { product_id: ProductId.parse(annaId) },
  journey: { journey_id: plainJourney.id },
  customer: withId(annaId),
}))
  scenario(`an application for another ${what} is left as it was`, {
    given: [started()],
    when: supersede(by),
    then: [],
  })
scenario('an application of another customer is left as it was', {
  given: [started(), customerSaved()],
  when: supersede(withId(bertId)),
  then: [],
})
scenario('an application with a customer is left as it was when the new one has none', {
  given: [started(), customerSaved()],
  when: supersede(),
  then: [],
})
scenario('an ended application is left as it was', { given: [started(), declined], when: supersede(), then: [] })
scenario('an application does not give up itself', {
  given: [started()],
  when: supersede({ id: application_id }),
  then: [],
})
scenario('giving up again changes nothing', { given: [started(), abandoned], when: supersede(), then: [] })
scenario('a key that started nothing is passed over', { given: [], when: supersede(), then: [] })

test('an application that was changed since is left as it was', () => {
  const changed = application.evolve(stateOf(application, [started()], at), answered({ wine: true }), {
    occurred_at: '2026-01-15T12:00:00.001Z',
  })
  expect(application.decide(supersede(), changed)).toEqual([])
})
