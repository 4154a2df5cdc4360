import { expect, test } from 'vitest'
import { hasUnpublishedChanges, product, type ProductCommand } from '#domain/catalogue/product.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'
import { became, draft, drafted, levelTable, published, release, releaseIds, termLife } from './builders.ts'
import type { LifecycleState } from '#domain/catalogue/events.ts'

const scenario = scenariosOf(product)

const save = (of = draft()): ProductCommand => ({ type: 'DraftProduct', draft: of, table: levelTable })
const publish = (number: 1 | 2 = 1, sold = false): ProductCommand => ({
  type: 'PublishRelease',
  release_id: releaseIds[number - 1] ?? releaseIds[0],
  sold,
})
const become = (to: LifecycleState, sold = false): ProductCommand => ({ type: 'ChangeLifecycle', to, sold })

const renamed = draft({ name: 'Term Life Plus' })
const onSale = [drafted(), published(), became('sandbox'), became('production')]

scenario('a product is drafted', { given: [], when: save(), then: [drafted()] })
scenario('drafting the same again changes nothing', { given: [drafted()], when: save(), then: [] })
scenario('a draft can be changed', { given: [drafted()], when: save(renamed), then: [drafted(renamed)] })
scenario('a product keeps its slug', {
  given: [drafted()],
  when: save(draft({ slug: 'other' })),
  then: rejected('conflict', undefined, 'A product keeps its slug. Draft another product under the new one.'),
})
scenario('a draft that cannot be a release is refused, with the place of each fault', {
  given: [],
  when: save(draft({ rate_tables: { 'life.level': 7 }, policy_fee_pence: -1 })),
  then: rejected(
    'validation_failed',
    {
      policy_fee_pence: 'must not be below 0',
      'rate_tables.life.level': 'version 7 of life.level is not published',
    },
    'Correct what fields names in the draft.',
  ),
})

scenario('of several faults in one place the first is told, at its place in a list too', {
  given: [],
  when: save(
    draft({ covers: [...termLife.covers.map((cover) => ({ ...cover, rate_table: 'life.wol' })), termLife.covers[0]] }),
  ),
  then: rejected('validation_failed', {
    'covers[0].rate_table': 'rate_tables names no version of life.wol',
    'covers[1].id': 'is the same as that of covers[0]',
  }),
})
scenario('the first release has number 1', { given: [drafted()], when: publish(), then: [published()] })
scenario('publishing an unchanged draft is no new release', {
  given: [drafted(), published()],
  when: publish(2),
  then: [],
})
scenario('a changed draft is the next release', {
  given: [drafted(), published(), drafted(renamed)],
  when: publish(2),
  then: [published(2, renamed)],
})
scenario('a draft that was changed back is no new release', {
  given: [drafted(), published(), drafted(renamed), drafted()],
  when: publish(2),
  then: [],
})
scenario('what was never drafted cannot be published', {
  given: [],
  when: publish(),
  then: rejected('not_found', undefined, 'There is no such product. Set it up first.'),
})

scenario('a draft goes to the sandbox', {
  given: [drafted(), published()],
  when: become('sandbox'),
  then: [became('sandbox')],
})
scenario('a sandbox product goes back to draft', {
  given: [drafted(), published(), became('sandbox')],
  when: become('draft'),
  then: [became('draft')],
})
scenario('a sandbox product goes on sale', {
  given: [drafted(), published(), became('sandbox')],
  when: become('production'),
  then: [became('production')],
})
scenario('a draft does not go on sale at once', {
  given: [drafted(), published()],
  when: become('production'),
  then: rejected('conflict', undefined, 'A product that is draft cannot become production.'),
})
scenario('what is on sale is archived', { given: onSale, when: become('archived'), then: [became('archived')] })
scenario('what is archived goes back on sale', {
  given: [...onSale, became('archived')],
  when: become('production'),
  then: [became('production')],
})
scenario('what is archived goes nowhere else', {
  given: [...onSale, became('archived')],
  when: become('sandbox'),
  then: rejected('conflict'),
})
scenario('a draft can be archived without having been on sale', {
  given: [drafted()],
  when: become('archived'),
  then: [became('archived')],
})
scenario('what was never sold goes back to the sandbox', {
  given: onSale,
  when: become('sandbox', false),
  then: [became('sandbox')],
})
scenario('what was sold does not go back to the sandbox', {
  given: onSale,
  when: become('sandbox', true),
  then: rejected('conflict', undefined, 'A product that is production cannot become sandbox once it was sold.'),
})
scenario('a state that is already so changes nothing', { given: onSale, when: become('production', true), then: [] })
scenario('nothing is put into the sandbox before it was published', {
  given: [drafted()],
  when: become('sandbox'),
  then: rejected('conflict', undefined, 'Publish a release first: without one there is nothing to sell.'),
})
scenario('nothing is put on sale before it was published', {
  given: [drafted(), became('archived')],
  when: become('production'),
  then: rejected('conflict'),
})

const withJourney = (lifecycle_state: LifecycleState) =>
  draft({
    journeys: [
      {
        slug: 'broker',
        name: 'Broker',
        lifecycle_state,
        questions: [{ key: 'smoker', label: 'Smoker', question_type: 'boolean' }],
      },
    ],
  })

scenario('a journey goes back to draft while nothing was sold', {
  given: [drafted(withJourney('production')), published(1, withJourney('production')), drafted(withJourney('draft'))],
  when: publish(2, false),
  then: [published(2, withJourney('draft'))],
})
scenario('a journey that was on sale does not go back to draft once something was sold', {
  given: [drafted(withJourney('production')), published(1, withJourney('production')), drafted(withJourney('draft'))],
  when: publish(2, true),
  then: rejected('conflict', undefined, 'The journey broker cannot go from production to draft.'),
})
scenario('a journey goes on sale with the first release, by way of the sandbox', {
  given: [drafted(withJourney('production'))],
  when: publish(1),
  then: [published(1, withJourney('production'))],
})
scenario('what was put aside as a draft is put back on sale only once there is a release', {
  given: [drafted(), became('archived'), published()],
  when: become('production'),
  then: [became('production')],
})

test('a product is its draft, its state and its release on show', () => {
  const state = (...events: Parameters<typeof stateOf<ProductCommand, typeof product.events, unknown>>[1]) =>
    stateOf(product, events)

  expect(state(drafted())).toEqual({ draft: draft(), lifecycle_state: 'draft', current: undefined })
  expect(state(drafted(), published(), became('sandbox'), drafted(renamed))).toEqual({
    draft: renamed,
    lifecycle_state: 'sandbox',
    current: release(1),
  })
  expect(state(published())).toBeUndefined()
  expect(state(became('sandbox'))).toBeUndefined()
  expect(product.category).toBe('product')
})

test('a draft has unpublished changes until it is what was published', () => {
  const state = { draft: draft(), lifecycle_state: 'draft', current: undefined } as const

  expect(hasUnpublishedChanges(state)).toBe(true)
  expect(hasUnpublishedChanges({ ...state, current: release(2) })).toBe(false)
  expect(hasUnpublishedChanges({ ...state, draft: renamed, current: release(2) })).toBe(true)
})
