import { expect, test } from 'vitest'
import { kindOf } from '../../delivery-worker/capability.ts'
import { capabilities } from '../../delivery-worker/capabilities.ts'
import { allProjections } from '../../projections/all-projections.ts'
import { samples } from '../stored-events/samples.ts'

test('a read model that a delivery waits for follows the streams of its event, or keeps its checkpoint close to the log', () => {
  const waits = samples.flatMap(({ event }) => {
    const kind = kindOf(capabilities.subjects, event)
    const happening = kind?.happening(kind.remember(undefined, event) ?? {}, event)
    if (!kind || !happening) return []
    const category = event.stream.split('-', 1).join('')
    return [...kind.readModels, ...(happening.alsoWaitsFor ?? [])].map((name) => ({ type: event.type, category, name }))
  })
  const late = waits.filter(({ category, name }) => {
    const projection = allProjections.find((each) => each.name === name)
    return !projection || !(projection.categories.includes(category) || projection.awaitedByDeliveries)
  })

  expect(waits.length).toBeGreaterThan(100)
  expect(late).toEqual([])
})
