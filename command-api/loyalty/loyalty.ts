import type { Directory } from '#domain/access/record.ts'
import type { Programme } from '#domain/loyalty/record.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import type { Route } from '#infra/http/route.ts'
import type { Leads } from '../leads/live-leads.ts'
import { makeMemberships } from './memberships.ts'
import { programmeRoutes, type IsPerson } from './operator-routes.ts'
import { membershipRoutes } from './routes.ts'
import type { MembershipSnapshots } from './snapshots.ts'
import { startCycles } from './start-cycles.ts'
import { whenMembershipChangedRecordActivity } from './when-membership-changed-record-activity.ts'
import { whenPolicyBoundEnrolMember } from './when-policy-bound-enrol-member.ts'
import type { SomeReaction } from '../reactions/reaction.ts'
import type { Timer } from '../reactions/timers.ts'
import type { Writer } from '../writing/writer.ts'

type Deps = {
  readonly writer: Writer
  readonly dataKeys: Pick<DataKeys, 'digest'>
  readonly programmes: ReadonlyMap<string, Programme>
  readonly snapshots: MembershipSnapshots
  readonly directory: Directory
}

const membershipsOf = ({ writer, dataKeys, programmes, snapshots }: Deps) =>
  makeMemberships({ writer, digest: dataKeys.digest, programmes, snapshots })

/** Memberships and what they earn: the way in. */
export const loyaltyRoutes = (deps: Deps & { readonly isPerson: IsPerson }): readonly Route[] => {
  const { writer, directory, programmes, isPerson } = deps
  const memberships = membershipsOf(deps)
  return [
    ...membershipRoutes({ memberships, organisations: directory.organisations }),
    ...programmeRoutes({ writer, programmes, memberships, isPerson }),
  ]
}

export const loyaltyReactions = (deps: Deps & { readonly leads: Leads }): readonly SomeReaction[] => {
  const { programmes, leads } = deps
  const memberships = membershipsOf(deps)
  return [
    whenPolicyBoundEnrolMember(memberships, programmes),
    whenMembershipChangedRecordActivity({ memberships, programmes, leads }),
  ]
}

export const loyaltyTimers = (deps: Deps): readonly Timer[] => {
  const { programmes, directory } = deps
  return [startCycles({ memberships: membershipsOf(deps), programmes, organisations: directory.organisations })]
}
