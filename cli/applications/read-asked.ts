import { z } from 'zod'
import { daysAfter } from '#domain/dates.ts'
import { dateIn, startOfDayIn } from '#domain/time-zone.ts'
import { CalendarDate, OrganisationId, Slug } from '#domain/values.ts'

const Asked = z.object({
  organisation: OrganisationId,
  product: Slug,
  release: z.string().min(1),
  from: CalendarDate.optional(),
  until: CalendarDate.optional(),
  csv: z.string().min(1).optional(),
  key: z.string().min(1).optional(),
})

export type AskedReprice = z.output<typeof Asked>

const lacking: Readonly<Record<string, string>> = {
  organisation: 'must be the id of the organisation, as GET /admin/v1/organisations shows it',
  product: 'must be the slug of a product',
  release: 'must be draft, or the name of a set-up file',
  from: 'must be a date such as 2026-07-01',
  until: 'must be a date such as 2026-07-31',
}

/** The repricing that the options of a command ask for, or why they ask for none. */
export const readAsked = (options: object): AskedReprice | string => {
  const { data, error } = Asked.safeParse(options)
  if (data)
    return data.from !== undefined && data.until !== undefined && data.from > data.until
      ? '--from must not be after --until.'
      : data
  const wrong = String(error.issues[0]?.path[0])
  return `--${wrong} ${lacking[wrong] ?? 'is not understood'}.`
}

const defaultDays = 30

type Period = { readonly from: string; readonly until: string }

/** The first and the last day, where the organisation is; by default up to today. */
export const daysOf = (
  { from, until }: Pick<AskedReprice, 'from' | 'until'>,
  time_zone: string,
  now: string,
): Period => {
  const last = until ?? dateIn(time_zone, now)
  return { from: from ?? daysAfter(last, 1 - defaultDays), until: last }
}

/** The instants from the first of the days to the end of the last. */
export const periodOf = ({ from, until }: Period, time_zone: string): Period => ({
  from: startOfDayIn(time_zone, from),
  until: startOfDayIn(time_zone, daysAfter(until, 1)),
})
