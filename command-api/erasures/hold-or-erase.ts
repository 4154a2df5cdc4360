import type { Pool } from 'pg'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import { Problem } from '#infra/http/problem.ts'
import { makeAlone, type Turn } from '../writing/alone.ts'
import type { Turns } from '../writing/turns.ts'

const notDestroyed =
  'Keys that are to be destroyed cannot be written down or destroyed now, and no hold can be placed before. Send the request again.'

type Deps = {
  readonly pool: Pool
  readonly turns: Turns
  readonly dataKeys: Pick<DataKeys, 'destroyDecided'>
}

/**
 * Legal holds of an organisation are placed, and the destruction of keys of its people decided, one after the other, in all
 * processes: a hold comes before the last look for holds, or after the destruction. What was decided in a turn before, and not done
 * because the process died, is done first. A hold on one person also keeps whoever shares a record with them, so that each person on
 * their own would not do.
 */
export const makeHoldOrErase = ({ dataKeys, ...deps }: Deps) => {
  const alone = makeAlone(deps, 'holds and erasures')

  return <Result>(organisation_id: string, act: (turn: Turn) => Promise<Result>) =>
    alone(organisation_id, async (turn) => {
      await dataKeys.destroyDecided(organisation_id).catch((cause: unknown) => {
        throw new Problem('unavailable', notDestroyed, { headers: { 'Retry-After': '60' }, cause })
      })
      return act(turn)
    })
}

export type HoldOrErase = ReturnType<typeof makeHoldOrErase>
