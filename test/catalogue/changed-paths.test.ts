import { expect, test } from 'vitest'
import { changedPaths } from '../../command-api/catalogue/changed-paths.ts'

test('what changes in a product is named by its place, with its value before and after', () => {
  const before = { name: 'Term', journeys: [{ slug: 'web', questions: [{ key: 'smoker', label: 'Smoker?' }] }] }
  const after = { name: 'Term', journeys: [{ slug: 'web', questions: [{ key: 'smoker', label: 'Do you smoke?' }] }] }

  expect(changedPaths(before, after)).toEqual(['journeys[0].questions[0].label: "Smoker?" → "Do you smoke?"'])
})

test('what is added or taken away is called by its slug, key, code or name', () => {
  const journeys = [{ id: '68be628c-4c1f-54c8-a273-76b970fbb679', slug: 'web', name: 'On our web pages' }]
  const rules = [{ code: 'bmi_40', label: 'Body mass index 40 or more' }]
  const documents = [{ document_id: '68be628c-4c1f-54c8-a273-76b970fbb679', kind: 'key_facts', name: 'Key facts' }]

  expect(changedPaths({ journeys }, { journeys: [] })).toEqual(['journeys[0]: web → nothing'])
  expect(changedPaths({ rules: [] }, { rules })).toEqual(['rules[0]: nothing → bmi_40'])
  expect(changedPaths({ documents }, { documents: [] })).toEqual(['documents[0]: Key facts → nothing'])
  expect(changedPaths({ tiers: [] }, { tiers: [{ premium_pence: 350 }] })).toEqual([
    'tiers[0]: nothing → {"premium_pence":350}',
  ])
})
