import { expect, test } from 'vitest'
import { kindOf, kindsNamed, publishedName, typeOf } from '#domain/event-kinds.ts'
import { storedEvents } from '#domain/stored-events.ts'
import { TriggerEventType } from '#domain/workflows/events.ts'
import { samples } from '../stored-events/samples.ts'

test.each(Object.keys(storedEvents))('%s is found by the type that it is stored under', (type) => {
  for (const { event } of samples.filter((sample) => sample.event.type === type)) {
    const kind = kindOf(type, event.data)
    expect(typeOf(kind)).toBe(type)
    if (type !== 'LeadActivityRecorded' || event.data['kind'] !== undefined) expect(kindsNamed(type)).toContain(kind)
  }
})

test.each(TriggerEventType.options)('%s is found by the name under which it is published', (name) => {
  const kinds = kindsNamed(name)

  expect(kinds.length).toBeGreaterThan(0)
  expect(kinds.map(publishedName)).toEqual(kinds.map(() => name))
})

test('a published name may stand for several types', () => {
  expect(kindsNamed('premium.refunded')).toEqual(['PremiumRefunded', 'PremiumRefundPaidOtherwise'])
})

test('an activity is published under the name of what was done, and a score only where the grade changes', () => {
  expect(kindOf('LeadActivityRecorded', { kind: 'complaint' })).toBe('LeadActivityRecorded/complaint')
  expect(kindsNamed('activity.complaint')).toEqual(['LeadActivityRecorded/complaint'])
  expect(publishedName(kindOf('LeadScored', { from_grade: 'a', grade: 'b' }))).toBe('lead.grade_changed')
  expect(publishedName(kindOf('LeadScored', { from_grade: 'a', grade: 'a' }))).toBeUndefined()
})

test('what is no event has no kind', () => {
  expect(kindsNamed('policy.sold')).toEqual([])
  expect(kindsNamed('toString')).toEqual([])
})
