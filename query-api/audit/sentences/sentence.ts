import type { EventOf, EventShapes } from '#domain/event.ts'

/**
 * A sentence of the trade for each event of a map: an event without one does not compile. Nothing in it is personal. Why
 * something was done stands beside it, as its basis.
 */
export type Sentences<Shapes extends EventShapes> = {
  readonly [Type in keyof Shapes & string]: (
    event: Extract<EventOf<Shapes>, { readonly type: Type }>,
    money: Money,
  ) => string
}

/** An amount as people read it, in the currency of the organisation; of nothing, `an unknown amount`. */
export type Money = (pence: number | null) => string

/** `cooling_off` → `cooling off`. */
export const words = (code: string): string => code.replaceAll('_', ' ')

export const day = (instant: string): string => instant.slice(0, 10)
