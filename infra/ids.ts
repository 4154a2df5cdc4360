import { v5 as uuidv5 } from 'uuid'

const namespace = '5b1f3c52-6d0e-4b0f-9a55-2f4c1f6f0c11'

/**
 * The id of what has a natural key: the same parts give the same id, so that "no stream yet" is its unique index.
 * The first part is the kind, the second the organisation, then the key (`'customer', organisation_id, email`).
 */
export const derivedId = (kind: string, ...key: readonly string[]): string =>
  uuidv5(JSON.stringify([kind, ...key]), namespace)
