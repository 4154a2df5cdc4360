import { z } from 'zod'
import type { Decider } from '#domain/decider.ts'
import { event, idOf, type EventOf } from '#domain/event.ts'
import { commandHandler, type Writer } from '../../command-api/writing/handle.ts'
import type { Reaction } from '../../command-api/reactions/reaction.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import type { Fixture } from '../projections/fixture.ts'
import { tallyEvents } from '../projections/tally.ts'

const mirrorEvents = { MirrorSet: event({ value: z.int() }) }
type MirrorEvent = EventOf<typeof mirrorEvents>

/** Holds the last value that it was given; the same value again changes nothing. */
export const mirror: Decider<
  { readonly type: 'SetMirror'; readonly value: number },
  typeof mirrorEvents,
  number | undefined
> = {
  category: 'mirror',
  events: mirrorEvents,
  initialState: undefined,
  decide: ({ value }, held): readonly MirrorEvent[] => (value === held ? [] : [{ type: 'MirrorSet', value }]),
  evolve: (_held, { value }) => value,
}

type Options = { readonly name?: string; readonly mirrorOf?: (tally: string) => string }

/** Every amount by which a tally is raised becomes the value of its mirror. */
export const whenTallyRaisedSetMirror = (
  writer: Writer,
  { name = 'when-tally-raised-set-mirror', mirrorOf = (tally) => tally }: Options = {},
): Required<Omit<Reaction<{ TallyRaised: (typeof tallyEvents)['TallyRaised'] }>, 'takesTurns'>> => {
  const { handle } = commandHandler(writer, mirror)
  return {
    name,
    categories: ['tally'],
    events: { TallyRaised: tallyEvents.TallyRaised },
    target: (_event, { stream }) => `mirror-${mirrorOf(idOf(stream))}`,
    react: async ({ by }, { stream }, context) =>
      handle(mirrorOf(idOf(stream)), { type: 'SetMirror', value: by }, context),
  }
}

export const writerOn = (log: Writer['log']): Writer => makeWriter({ log, seen: async () => undefined })

/** The events of a mirror, as they are stored. */
export const mirrorEventsOf = ({ eventLog }: Fixture, id: string) => eventLog.read(`mirror-${id}`)

/** The values that a mirror has had, in their order. */
export const valuesOf = async (the: Fixture, id: string): Promise<readonly unknown[]> =>
  (await mirrorEventsOf(the, id)).map(({ data }) => data['value'])
