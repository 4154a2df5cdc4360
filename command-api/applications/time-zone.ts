const formats = new Map<string, Intl.DateTimeFormat>()

/** The date, `YYYY-MM-DD`, that an instant falls on in a time zone. */
export const dateIn = (timeZone: string, instant: string): string => {
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
  formats.set(timeZone, format)
  return format.format(new Date(instant))
}
