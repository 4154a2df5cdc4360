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
  const date = format.format(new Date(instant))
  zones.set(timeZone, { format, minute, date })
  return date
}
