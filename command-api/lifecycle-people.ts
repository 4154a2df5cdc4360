import { application } from '#domain/applications/application.ts'
import { categoryOf, idOf } from '#domain/event.ts'
import { policy } from '#domain/policies/policy.ts'
import type { CustomerId, ProductId } from '#domain/values.ts'
import { commandHandler, type Writer } from './handle.ts'

/** Whose application or policy a stream is, and of which product; undefined while nobody is known. */
export type LifecyclePerson = (
  stream: string,
) => Promise<{ readonly contact_id: CustomerId; readonly product_id: ProductId } | undefined>

export const makeLifecyclePerson = (writer: Writer): LifecyclePerson => {
  const loadApplication = commandHandler(writer, application).load
  const loadPolicy = commandHandler(writer, policy).load
  return async (stream) => {
    const record =
      categoryOf(stream) === 'policy' ? await loadPolicy(idOf(stream)) : (await loadApplication(idOf(stream)))?.record
    const contact_id = record?.customer?.id
    return contact_id && { contact_id, product_id: record.product_id }
  }
}
