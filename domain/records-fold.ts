import { idOf, type EventOf, type EventShapes } from './event.ts'

type Occurred = { readonly occurred_at: string }

type Recorded = { readonly stream: string; readonly metadata: Occurred }

/**
 * A fold that changes the records of one kind, which a process keeps in memory, in place. `evolve` says what becomes of a record,
 * undefined that there is none; it is kept under the id of its stream, where `keyOf` says nothing else.
 */
export const recordsFold = <Shapes extends EventShapes, Kept>({
  evolve,
  keyOf,
  ...fold
}: {
  readonly name: string
  readonly version: number
  readonly categories: readonly string[]
  readonly events: Shapes
  readonly evolve: (before: Kept | undefined, event: EventOf<Shapes>, metadata: Occurred) => Kept | undefined
  readonly keyOf?: (event: EventOf<Shapes>) => string
}) => ({
  ...fold,
  apply: (records: Map<string, Kept>, event: EventOf<Shapes>, { stream, metadata }: Recorded): void => {
    const key = keyOf ? keyOf(event) : idOf(stream)
    const record = evolve(records.get(key), event, metadata)
    if (record) records.set(key, record)
    else records.delete(key)
  },
})
