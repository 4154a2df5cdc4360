import { expect, test } from 'vitest'
import type { z } from 'zod'
import { partsOf } from '#domain/event.ts'
import { allEvents } from './shapes.ts'

/**
 * What an operator or a caller sends is refused by the same patterns that the events have, and a pattern says nothing to a
 * person. These fields are made by the service itself or by outside parties, or are checked before by a schema of its own.
 */
const checkedElsewhere: ReadonlySet<string> = new Set([
  'account_number_last4',
  'card_brand',
  'card_last4',
  'cells',
  'content_sha256',
  'event_type',
  'failure_code',
  'payment_intent_id',
  'policy_number',
  'provider_customer_id',
  'provider_dispute_id',
  'provider_event_id',
  'provider_mandate_id',
  'provider_payment_method_id',
  'provider_refund_id',
  'session_id',
  'sha256',
  'statement_sha256',
  'subject_type',
  'types',
])

type Schema = z.core.$ZodType
type Check = { readonly format?: string; readonly error?: z.core.$ZodErrorMap | undefined }

/** The patterns of a schema and of all that it is made of, each with the reason that it gives by itself. */
const patterns = (path: string, schema: Schema): readonly (readonly [path: string, reason: unknown])[] => {
  const { checks = [] } = schema._zod.def as { readonly checks?: readonly z.core.$ZodCheck[] }
  const defs: readonly Check[] = [schema._zod.def as Check, ...checks.map(({ _zod }) => _zod.def as Check)]
  return [
    ...defs
      .filter(({ format }) => format === 'regex')
      .map(({ error }) => [path, error?.({ code: 'custom', input: '' } as never)] as const),
    ...partsOf(schema).flatMap(([name, part]) => patterns(name === '' ? path : `${path}.${name}`, part)),
  ]
}

const fieldOf = (path: string): string =>
  path
    .split('.')
    .filter((name) => /^\w+$/.test(name))
    .at(-1) ?? path

test('a pattern that a value must match says in words what fits', () => {
  const all = [...allEvents].flatMap(([type, { schema }]) => patterns(type, schema))
  const silent = all.filter(([, reason]) => typeof reason !== 'string' || !/^[a-z]+ .*[a-z0-9]/.test(reason))

  expect(all.length).toBeGreaterThan(100)
  expect(new Set(silent.map(([path]) => fieldOf(path)))).toEqual(checkedElsewhere)
})
