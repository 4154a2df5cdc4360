/** The time since when a log cannot be read or followed, and the reason. */
export type Outage = { readonly since: Date; readonly reason: string }

/** Keeps the time when the failures of a log began, until a call succeeds. */
export const outageWatch = () => {
  let outage: Outage | undefined
  const succeeded = (): void => {
    outage = undefined
  }
  const failed = (error: unknown): void => {
    const reason = error instanceof Error ? error.message : String(error)
    outage = { since: outage?.since ?? new Date(), reason }
  }
  return { failed, succeeded, current: (): Outage | undefined => outage }
}
export type OutageWatch = ReturnType<typeof outageWatch>
