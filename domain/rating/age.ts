/** Calendar dates are `YYYY-MM-DD` throughout, so they compare as strings and need no time zone. */

const yearOf = (date: string): number => Number(date.slice(0, 4))
const dayOf = (date: string): string => date.slice(5)
const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0

const dated = (year: number, day: string): string => `${String(year).padStart(4, '0')}-${day}`

/** Whole years lived on that date. Someone born on 29 February is a year older on 1 March of other years. */
export const ageLastBirthday = (dob: string, on: string): number =>
  yearOf(on) - yearOf(dob) - (dayOf(on) < dayOf(dob) ? 1 : 0)

/** The day on which someone attains an age. */
export const birthday = (dob: string, age: number): string => {
  const year = yearOf(dob) + age
  return dated(year, dayOf(dob) === '02-29' && !isLeap(year) ? '03-01' : dayOf(dob))
}

/** The first birthday after that date. */
export const nextBirthday = (dob: string, after: string): string => birthday(dob, ageLastBirthday(dob, after) + 1)

/** The same day some years on; 28 February where there is no 29th. */
export const yearsAfter = (date: string, years: number): string => {
  const year = yearOf(date) + years
  return dated(year, dayOf(date) === '02-29' && !isLeap(year) ? '02-28' : dayOf(date))
}
