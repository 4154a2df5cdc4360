import type { ConsentEntry } from '#domain/customers/events.ts'
import type { CustomerId, OrganisationId } from '#domain/values.ts'
import type { Context } from '../writing/handle.ts'
import type { makePeople } from './people.ts'

type Withdrawn = {
  readonly entries: ConsentEntry[]
  readonly said_at: string
  /** The message that has the link, or that they replied to. */
  readonly message_id: string | null
}

const methods = { link: 'unsubscribe link', reply: 'reply to a message' } as const

/** Records that a person withdrew consent by the link of a message, or by a reply. Again, it changes nothing. */
export const withdrawBy =
  (type: keyof typeof methods, people: Pick<ReturnType<typeof makePeople>, 'handle' | 'record'>) =>
  async (
    organisation_id: OrganisationId,
    contact_id: CustomerId,
    { entries, said_at, message_id }: Withdrawn,
    context: Context,
  ): Promise<void> => {
    const record = await people.record(organisation_id, contact_id)
    if (!record) return
    const isWithdrawn = (entry: ConsentEntry) =>
      record.consent.some(
        ({ purpose, channel, state }) =>
          purpose === entry.purpose && channel === entry.channel && state === 'withdrawn',
      )
    const fresh = entries.filter((entry) => !isWithdrawn(entry))
    if (fresh.length === 0) return
    const source = { type, id: message_id }
    const said = { entries: fresh, method: methods[type], wording: null, said_at, source }
    await people.handle(contact_id, { type: 'RecordConsent', said }, context)
  }
