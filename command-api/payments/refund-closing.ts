import { z } from 'zod'
import { Rejection } from '#domain/rejection.ts'
import { CalendarDate } from '#domain/values.ts'
import { GivenReason } from '../given-reason.ts'

/** An operator's settlement of money that was left to the team, and does not go back the way it came. */
export const RefundClosing = z.object({
  how: z
    .enum(['paid_otherwise', 'not_owed'])
    .describe(
      'paid_otherwise: the customer was paid in another way, such as a bank transfer. not_owed: it is owed no more.',
    ),
  paid_on: CalendarDate.nullish().describe('paid_otherwise: today by default.'),
  reason: GivenReason.describe('For the team: how it was paid, or why it is not owed.'),
})

/** Throws `validation_failed` for a day that has not come, and for one on which nothing was paid. */
export const closingOf = ({ how, paid_on, reason }: z.output<typeof RefundClosing>, today: string) => {
  if (how === 'not_owed') {
    if (paid_on) throw refused('Leave paid_on out: nothing was paid.', 'is for paid_otherwise alone')
    return { how, reason } as const
  }
  if (paid_on && paid_on > today)
    throw refused('Send the day on which the customer was paid.', `must be ${today} at the latest`)
  return { how, paid_on: paid_on ?? today, reason } as const
}

const refused = (message: string, paid_on: string) => new Rejection('validation_failed', message, { paid_on })
