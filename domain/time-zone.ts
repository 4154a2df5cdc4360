type Zone = { readonly format: Intl.DateTimeFormat; readonly minute: string; readonly date: string }

const zones = new Map<string, Zone>()

/** The date, `YYYY-MM-DD`, that an instant falls on in a time zone. The instant is in UTC: `2026-01-15T12:00:00.000Z`. */
export const dateIn = (timeZone: string, instant: string): string => {
  // Dates change with a minute, and to work one out takes longer than most of what a request asks for.
  const minute = instant.slice(0, 16)
  const known = zones.get(timeZone)
  if (known?.minute === minute) return known.date

  const format =
    known?.format ?? new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
  // Years before 1000 are formatted with fewer digits than a date has.
  const date = format.format(new Date(instant)).padStart(10, '0')
  zones.set(timeZone, { format, minute, date })
  return date
}

/** The first instant of a date in a time zone, as UTC: `2026-04-05T23:00:00.000Z` for the 6th of April in London. */
export const startOfDayIn = (timeZone: string, date: string): string => {
  const midnight = Date.parse(`${date}T00:00:00.000Z`)
  const first = midnight - offsetAt(timeZone, midnight)
  // Where the clock is changed at midnight, the second look sees the offset that holds then.
  const second = new Date(midnight - offsetAt(timeZone, first)).toISOString()
  // Or it sees the one that holds from then on, by which it would still be the day before.
  return dateIn(timeZone, second) < date ? new Date(first).toISOString() : second
}

const dayMs = 86_400_000

/**
 * The instant at which the clocks of a time zone show a time, `HH:MM`, on a date. A time that comes twice, when clocks go
 * back, is the first of them; one that is left out, when they go forward, is as long after midnight as on any other day.
 */
export const instantIn = (timeZone: string, date: string, time: string): string => {
  const local = Date.parse(`${date}T${time}:00.000Z`)
  const [before, after] = [offsetAt(timeZone, local - dayMs), offsetAt(timeZone, local + dayMs)]
  const isAfter = offsetAt(timeZone, local - before) !== before && offsetAt(timeZone, local - after) === after
  return new Date(local - (isAfter ? after : before)).toISOString()
}

/** To make one takes longer than to use it. There is one for each time zone that an organisation has chosen. */
const offsetFormats = new Map<string, Intl.DateTimeFormat>()

/** Milliseconds by which the clocks of a time zone are ahead of UTC. */
const offsetAt = (timeZone: string, instant: number): number => {
  const format =
    offsetFormats.get(timeZone) ?? new Intl.DateTimeFormat('en-GB', { timeZone, timeZoneName: 'longOffset' })
  offsetFormats.set(timeZone, format)
  const parts = format.formatToParts(instant)
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT'
  const [, sign, hours = '0', minutes = '0'] = /^GMT(?:([+-])(\d\d):(\d\d))?/.exec(name) ?? []
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
}
