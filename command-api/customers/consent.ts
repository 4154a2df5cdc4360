import type { ConsentEntry } from '#domain/customers/events.ts'
import type { ApplicationId, CustomerId } from '#domain/values.ts'
import { withoutTarget, type Context } from '../writing/handle.ts'
import type { makePeople } from './people.ts'

/** An answer of an application's customer about being contacted, with the wording. */
export type Answered = {
  readonly entries: readonly ConsentEntry[]
  readonly method: string
  readonly wording: string | null
}

/** Records what the customer of an application said in the person's own record; what is there already is not recorded again. */
export const recordAnswers = async (
  people: Pick<ReturnType<typeof makePeople>, 'handle'>,
  customer_id: CustomerId,
  application_id: ApplicationId,
  answered: readonly Answered[],
  context: Context,
): Promise<void> => {
  const source = { type: 'application', id: application_id } as const
  for (const { entries, method, wording } of answered) {
    const said = { entries: [...entries], method, wording, said_at: context.now, source }
    await people.handle(customer_id, { type: 'RecordConsent', said }, withoutTarget(context))
  }
}
