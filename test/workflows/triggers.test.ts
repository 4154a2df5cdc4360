import { expect, test } from 'vitest'
import type { Json } from '#domain/event.ts'
import { ActivityKind } from '#domain/leads/events.ts'
import { LeadTriggerType, LifecycleEventType, TriggerEventType } from '#domain/workflows/events.ts'
import { capabilities } from '../../delivery-worker/capabilities.ts'
import { kindOf } from '../../delivery-worker/capability.ts'
import { samples } from '../stored-events/samples.ts'

/** The published name of every stored event that is sent, by the samples of all stored events. */
const published = (): ReadonlySet<string> => {
  const factsOf = new Map<string, Json>()
  const types = samples.flatMap(({ event }) => {
    const kind = kindOf(capabilities.subjects, event)
    if (!kind) return []
    const key = `${kind.type} ${kind.idOf(event)}`
    // Samples need not begin with the event that their subject began with: what it says matters here, not of which product.
    const facts = kind.remember(factsOf.get(key), event) ?? {}
    factsOf.set(key, facts)
    return kind.happening(facts, event)?.type ?? []
  })
  return new Set(types)
}

test('every lifecycle event triggers workflows, and is produced', () => {
  const produced = published()
  const missing = LifecycleEventType.options.filter((type) => !produced.has(type))

  expect(LifecycleEventType.options.every((type) => TriggerEventType.safeParse(type).success)).toBe(true)
  expect(missing).toEqual([])
})

test('every event of leads is produced', () => {
  const produced = published()
  const activities: readonly string[] = ActivityKind.options.map((kind) => `activity.${kind}`)
  const missing = LeadTriggerType.options.filter((type) => !activities.includes(type) && !produced.has(type))

  expect(missing).toEqual([])
  expect([...produced].filter((type) => activities.includes(type)).length).toBeGreaterThan(0)
})

test('what is published is a trigger, so that no event is sent which nobody can choose', () => {
  expect([...published()].filter((type) => !TriggerEventType.safeParse(type).success)).toEqual([])
})
