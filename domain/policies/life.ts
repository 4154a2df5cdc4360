import { dateIn } from '../time-zone.ts'
import type { PolicyEvent } from './events.ts'
import type { PolicyRecord, PolicyStreamEvent } from './record.ts'
import type { PolicyState } from './state.ts'
import type { OrganisationId } from '../values.ts'
import { writeOffOpen } from '../premiums/write-off.ts'

/** Sent when the day has come on which cover starts. */
export type ActivatePolicy = { readonly type: 'ActivatePolicy'; readonly now: string }

/** Sent when the day has come on which cover ends. */
export type ExpirePolicy = { readonly type: 'ExpirePolicy'; readonly now: string }

/** Sent when the firm's own system has an update of the policy. */
export type RecordPolicyUpdate = {
  readonly type: 'RecordPolicyUpdate'
  readonly organisation_id: OrganisationId
} & Omit<Extract<PolicyEvent, { type: 'PolicyUpdated' }>, 'type'>

/** An update of a policy that is not there, or is another firm's, is ignored. */
export const recordPolicyUpdate = (
  { type: _type, organisation_id, ...update }: RecordPolicyUpdate,
  policy: PolicyRecord | undefined,
): readonly PolicyEvent[] => (policy?.organisation_id === organisation_id ? [{ type: 'PolicyUpdated', ...update }] : [])

const dateOf = ({ time_zone }: PolicyRecord, now: string): string => dateIn(time_zone, now)

export const activatePolicy = ({ now }: ActivatePolicy, policy: PolicyRecord): readonly PolicyEvent[] =>
  policy.status === 'pending_start' && policy.start_date <= dateOf(policy, now)
    ? [{ type: 'PolicyActivated', start_date: policy.start_date }]
    : []

/** Cover that has not begun does not end: it is activated first. */
export const expirePolicy = ({ now }: ExpirePolicy, policy: PolicyState): readonly PolicyStreamEvent[] => {
  const { status, end_date } = policy
  const isOn = status === 'active' || status === 'suspended'
  return isOn && end_date !== null && end_date <= dateOf(policy, now)
    ? [{ type: 'PolicyExpired', end_date }, ...writeOffOpen(policy)]
    : []
}
