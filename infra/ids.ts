import { randomUUID } from 'node:crypto'
import { v5 as uuidv5 } from 'uuid'

const namespace = '5b1f3c52-6d0e-4b0f-9a55-2f4c1f6f0c11'

/**
 * The id of what has a natural key: the same parts give the same id, so that "no stream yet" is its unique index.
 * The first part is the kind, the second the organisation, then the key (`'customer', organisation_id, email`).
 */
export const derivedId = (kind: string, ...key: readonly string[]): string =>
  uuidv5(JSON.stringify([kind, ...key]), namespace)

/**
 * A new UUIDv7, for what is made with every request. Node keeps randomness in stock for `randomUUID`; that of `uuid` asks
 * the system for each id, which took a twelfth of the time of a whole request.
 */
export const newId = (): string => {
  const milliseconds = Date.now().toString(16).padStart(12, '0')
  return `${milliseconds.slice(0, 8)}-${milliseconds.slice(8)}-7${randomUUID().slice(15)}`
}
