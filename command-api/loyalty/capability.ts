import type { Capability } from '../capability.ts'
import type { CommandSide } from '../command-side.ts'
import { makeMemberships } from './memberships.ts'
import { programmeRoutes } from './operator-routes.ts'
import { membershipRoutes } from './routes.ts'
import { startCycles } from './start-cycles.ts'
import { whenMembershipChangedRecordActivity } from './when-membership-changed-record-activity.ts'
import { whenPolicyBoundEnrolMember } from './when-policy-bound-enrol-member.ts'

const membershipsOf = ({ dataKeys, ...side }: CommandSide) => makeMemberships({ ...side, digest: dataKeys.digest })

export const loyalty: Capability = {
  routes: (side) => {
    const { directory, people } = side
    const memberships = membershipsOf(side)
    return [
      ...membershipRoutes({ memberships, organisations: directory.organisations }),
      ...programmeRoutes({
        ...side,
        memberships,
        isPerson: async (organisation_id, id) =>
          (await people.record(organisation_id, id)) !== undefined && !(await people.isErased(id)),
      }),
    ]
  },
  work: (side) => {
    const { programmes, directory } = side
    const memberships = membershipsOf(side)
    return {
      reactions: [
        whenPolicyBoundEnrolMember(memberships, programmes),
        whenMembershipChangedRecordActivity({ ...side, memberships }),
      ],
      timers: [startCycles({ memberships, programmes, organisations: directory.organisations })],
    }
  },
}
