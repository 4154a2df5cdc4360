import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { monthsAfter } from '#domain/dates.ts'
import { plainWords, reasonsOf } from '#domain/reasons.ts'
import { CalendarDate } from '#domain/values.ts'
import type { BankCalendar } from '#domain/working-days.ts'
import type { Clock } from './clock.ts'
import { BadConfiguration, type Config } from './config.ts'
import type { Check } from './http/health.ts'

/** As gov.uk publishes the bank holidays of one part of the country. */
const BankHolidays = z.object({
  events: z
    .array(z.object({ date: CalendarDate }))
    .min(1)
    .max(2_000),
})

const ofEngland = join(import.meta.dirname, 'bank-holidays.england-and-wales.json')

const [sunday, saturday] = [0, 6]

/** The days on which banks work: those of England and Wales, unless the configuration names another file. */
export const readBankCalendar = ({ BANK_HOLIDAYS_FILE }: Pick<Config, 'BANK_HOLIDAYS_FILE'>): BankCalendar => {
  const { success, data, error } = BankHolidays.safeParse(jsonIn(BANK_HOLIDAYS_FILE ?? ofEngland), {
    error: plainWords,
  })
  if (success) return { weekend: [saturday, sunday], holidays: data.events.map(({ date }) => date).toSorted() }
  const [first] = reasonsOf(error.issues)
  throw new BadConfiguration(
    `BANK_HOLIDAYS_FILE: is not as gov.uk publishes the bank holidays of one part of the country: ${first?.path.join('.') ?? ''} ${first?.reason ?? ''}`,
  )
}

const jsonIn = (file: string): unknown => {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new BadConfiguration(
      error instanceof SyntaxError
        ? 'BANK_HOLIDAYS_FILE: is not JSON'
        : `BANK_HOLIDAYS_FILE: cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

const warnedBeforeMonths = 6

/** The health check of the bank holidays: they may end soon. Collections go on, so the process stays ready. */
export const bankCalendarCheck = ({ holidays }: BankCalendar, { now }: Pick<Clock, 'now'>): Check => {
  const last = holidays.at(-1) ?? ''
  const isEnding = last < monthsAfter(now().toISOString().slice(0, 10), warnedBeforeMonths)
  const detail = `no bank holiday after ${last} is known: name a newer file in BANK_HOLIDAYS_FILE`
  return { name: 'bank_holidays', ok: true, ...(isEnding && { detail }) }
}
