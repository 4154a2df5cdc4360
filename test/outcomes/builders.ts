import type { MappedOutcome } from '#domain/custom-integrations/events.ts'

/** What an event of another system says of an outcome, its lead apart. */
export const said = {
  type: 'quoted',
  occurred_at: '2026-01-15T09:00:00.000Z',
  deal_ref: null,
  product: null,
  reason: null,
  note: null,
  values: {},
  unreadable: [],
} satisfies Omit<MappedOutcome, 'lead'>
export const nobody: MappedOutcome['lead'] = {
  id: null,
  external_id: null,
  email: null,
  phone: null,
  match_on_details: false,
}
