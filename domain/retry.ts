const minuteMs = 60_000
const delays = [1, 5, 30, 120, 360, 720, 1440, 1440, 1440].map((minutes) => minutes * minuteMs)

/**
 * The next attempt is not due yet. A read model that lags asks for the former one again, and so may a second process: it
 * counts once.
 */
export const isTooEarly = (retry_at: string | null | undefined, now: string): boolean =>
  typeof retry_at === 'string' && now < retry_at

/** The time of the next try with an outside party after so many failures; null: it is left to the team. */
export const retryAt = (failures: number, now: string): string | null => {
  const delay = delays[failures]
  return delay === undefined ? null : new Date(Date.parse(now) + delay).toISOString()
}
