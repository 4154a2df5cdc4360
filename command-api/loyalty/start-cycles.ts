import { timeZoneOf, type Organisation } from '#domain/access/record.ts'
import { idOf } from '#domain/event.ts'
import type { Programme } from '#domain/loyalty/record.ts'
import { dateIn } from '#domain/time-zone.ts'
import { MembershipId } from '#domain/values.ts'
import type { Timer } from '../reactions/timers.ts'
import type { Memberships } from './memberships.ts'

type Deps = {
  readonly memberships: Memberships
  readonly programmes: ReadonlyMap<string, Programme>
  readonly organisations: ReadonlyMap<string, Pick<Organisation, 'time_zone'>>
}

/** A cycle of points is over: the next one begins, with no points but those of its own days. */
export const startCycles = ({ memberships, programmes, organisations }: Deps): Timer => ({
  kind: 'membership_cycle',
  fire: async ({ organisation_id, stream }, context) => {
    const id = MembershipId.parse(idOf(stream))
    const { membership } = await memberships.load(id)
    const cycle = programmes.get(membership?.programme_id ?? '')?.cycle
    if (!cycle) return
    const time_zone = timeZoneOf(organisations, organisation_id)
    await memberships.handle(
      id,
      { type: 'StartCycle', cycle, today: dateIn(time_zone, context.now), time_zone },
      context,
    )
  },
})
