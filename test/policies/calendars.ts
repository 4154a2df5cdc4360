import type { BankCalendar } from '#domain/working-days.ts'
import { readBankCalendar } from '#infra/bank-holidays.ts'

/** Banks work every day: for what is not about the days on which they do not. */
export const everyDay: BankCalendar = { weekend: [], holidays: [] }

/** As they work in England and Wales. */
export const england = readBankCalendar({ BANK_HOLIDAYS_FILE: undefined })
