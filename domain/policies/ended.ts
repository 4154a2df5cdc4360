import { PolicyStatus } from './shown.ts'

const isEnd: Readonly<Record<PolicyStatus, boolean>> = {
  pending_start: false,
  active: false,
  suspended: false,
  lapsed: true,
  cancelled: true,
  expired: true,
  claimed: true,
}

/** Cover has come to an end, for whatever reason. */
export const hasEnded = ({ status }: { readonly status: PolicyStatus }): boolean => isEnd[status]

/** The statuses of a policy in force, and of one that is yet to be. */
export const inForce: readonly PolicyStatus[] = PolicyStatus.options.filter((status) => !isEnd[status])
