import { dayIn, yearOf } from '../dates.ts'

const dayOf = (date: string): string => date.slice(5)

/** Whole years lived on that date. Someone born on 29 February is a year older on 1 March of other years. */
export const ageLastBirthday = (dob: string, on: string): number =>
  yearOf(on) - yearOf(dob) - (dayOf(on) < dayOf(dob) ? 1 : 0)

/** The day on which someone attains an age. */
export const birthday = (dob: string, age: number): string => dayIn(yearOf(dob) + age, dayOf(dob), '03-01')

/** The first birthday after that date. */
export const nextBirthday = (dob: string, after: string): string => birthday(dob, ageLastBirthday(dob, after) + 1)
