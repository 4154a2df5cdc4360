import type { Outcome } from '#domain/outcomes/record.ts'
import type { Fixture } from '../leads/fixture.ts'

/** Reports of outcomes, over HTTP. */

export const address = '/api/v1/crm/outcomes'
export const occurred_at = '2026-01-15T09:00:00.000Z'
export const quoted = { type: 'quoted', occurred_at, values: { premium: 1250 } }
export const sold = { type: 'sold', occurred_at, product: 'TL1', values: { premium: 1250, commission: 30_000 } }

export type Body = {
  readonly data: Outcome & { readonly status: string; readonly reason: string }
  readonly error: { readonly code: string; readonly fields?: Readonly<Record<string, string>> }
}

export const report = async (fixture: Fixture, body: object, headers: Record<string, string> = {}) => {
  const answered = await fixture.post(address, body, headers)
  return { ...answered, body: answered.body as Body }
}
