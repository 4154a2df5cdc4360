import { z } from 'zod'
import { Problem } from '#infra/http/problem.ts'
import type { RequestFacts } from '#infra/http/route.ts'

const longest = 255

export const IdempotencyKey = z
  .string()
  .max(longest)
  // Without \p{Cc}: the pattern is documented, and the regular expressions of other languages do not know it.
  // oxlint-disable-next-line no-control-regex -- control characters are what it refuses.
  .regex(new RegExp('^[^\\u0000-\\u001f\\u007f-\\u009f]*$', 'u'), 'must not hold control characters')
  .refine((key) => key.isWellFormed(), 'must be valid Unicode')

/** The rule about an operator's key, for a route's description: `refuseOtherContent` enforces it. */
export const onceForKey = (what: string): string =>
  `One ${what} for the same key. With other content the key is refused.`

/** The Idempotency-Key of a request; undefined when it has none. */
export const keyInHeader = ({ header }: Pick<RequestFacts, 'header'>, most: number = longest): string | undefined => {
  const key = header('idempotency-key')?.trim()
  if (!key) return undefined
  if (key.length <= most && IdempotencyKey.safeParse(key).success) return key
  const reason = `must be at most ${most} characters, none of them control characters`
  throw new Problem('validation_failed', `Idempotency-Key ${reason}.`, { fields: { 'Idempotency-Key': reason } })
}
