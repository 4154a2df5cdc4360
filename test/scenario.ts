import { expect, test } from 'vitest'
import type { Decider } from '#domain/decider.ts'
import { fromStored, toStored, type EventOf, type EventShapes } from '#domain/event.ts'
import type { ErrorCode, Fields } from '#domain/rejection.ts'

type Rejected = { readonly rejected: { readonly code: ErrorCode; readonly fields?: Fields; readonly says?: string } }

type Scenario<Command, Event> = {
  readonly given: readonly Event[]
  /** When the given events happened. */
  readonly at?: string
  readonly when: Command
  readonly then: readonly Event[] | Rejected
}

/**
 * The refusal with this code and with a message that contains `says`; with fields, exactly those inputs are named, each
 * for a reason that contains the given text.
 */
export const rejected = (code: ErrorCode, fields?: Fields, says = ''): Rejected => ({
  rejected: fields ? { code, fields, says } : { code, says },
})

const expectRejection = (decide: () => unknown, { code, fields, says = '' }: Rejected['rejected']) => {
  const message = expect.stringContaining(says) as unknown
  expect(decide).toThrow(expect.objectContaining({ name: 'Rejection', code, message }))
  if (!fields) return
  const reasons = Object.entries(fields).map(
    ([name, part]) => [name, expect.stringContaining(part) as unknown] as const,
  )
  expect(decide).toThrow(expect.objectContaining({ fields: Object.fromEntries(reasons) }))
}

/** What events add up to, unharmed by being stored and read back. */
export const stateOf = <Command, Shapes extends EventShapes, State>(
  { events, initialState, evolve }: Decider<Command, Shapes, State>,
  given: readonly EventOf<Shapes>[],
  at = '2026-01-15T12:00:00.000Z',
): State =>
  given.reduce(
    (state, event) => evolve(state, fromStored(events, toStored(events, event)), { occurred_at: at }),
    initialState,
  )

/** Given these events, when this command comes, then those events follow, unharmed by being stored and read back. */
export const scenariosOf =
  <Command, Shapes extends EventShapes, State>(decider: Decider<Command, Shapes, State>) =>
  (name: string, { given, at, when, then }: Scenario<Command, EventOf<Shapes>>) =>
    test(name, () => {
      const { events, decide } = decider
      const decided = () =>
        decide(when, stateOf(decider, given, at)).map((event) => fromStored(events, toStored(events, event)))

      if ('rejected' in then) expectRejection(decided, then.rejected)
      else expect(decided()).toEqual(then)
    })
