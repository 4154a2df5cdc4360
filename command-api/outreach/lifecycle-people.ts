import { application } from '#domain/applications/application.ts'
import { complaint } from '#domain/complaints/complaint.ts'
import { categoryOf, idOf, type RecordedEvent } from '#domain/event.ts'
import { policy } from '#domain/policies/policy.ts'
import type { CustomerId, ProductId } from '#domain/values.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'

/** The person and product of an event's application, policy or complaint, as of the event at least; undefined: nobody is found. */
export type LifecyclePerson = (
  recorded: RecordedEvent,
) => Promise<{ readonly contact_id: CustomerId; readonly product_id: ProductId | null } | undefined>

export const makeLifecyclePerson = (writer: Writer): LifecyclePerson => {
  const loadApplication = commandHandler(writer, application).loadFrom
  const loadPolicy = commandHandler(writer, policy).loadFrom
  const loadComplaint = commandHandler(writer, complaint).loadFrom
  return async ({ stream, revision }) => {
    const id = idOf(stream)
    if (categoryOf(stream) === 'complaint') return loadComplaint(id, revision)
    const record =
      categoryOf(stream) === 'policy' ? await loadPolicy(id, revision) : (await loadApplication(id, revision))?.record
    const contact_id = record?.customer?.id
    return contact_id && { contact_id, product_id: record.product_id }
  }
}
