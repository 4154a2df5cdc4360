import { apiOf, pageOf } from './page.ts'
import { link, words } from './show.ts'
import type { View } from './view.ts'

/** The pages of records, which show them as of a moment, too. */
const pages: Readonly<Record<string, string>> = {
  application: 'applications',
  customer: 'leads',
  ingest: 'ingests',
  lead: 'leads',
  policy: 'policies',
}

/** The addresses of the API by which other records are shown as of a moment. */
const addresses: Readonly<Record<string, (organisation_id: string, id: string) => string>> = {
  complaint: (organisation_id, id) => apiOf(organisation_id, `complaints/${id}`),
  custom_integration: (organisation_id, id) => apiOf(organisation_id, `custom_integrations/${id}`),
  integration_connection: (organisation_id, id) => apiOf(organisation_id, `integration_connections/${id}`),
  outreach: (organisation_id, id) => apiOf(organisation_id, `outreach_streams/${id}`),
  payment: (organisation_id, id) => apiOf(organisation_id, `payments/${id}`),
  quote: (_organisation_id, id) => `/admin/v1/quotes/${id}/record`,
  application: (_organisation_id, id) => `/admin/v1/team_applications/${id}`,
  customer: (organisation_id, id) => apiOf(organisation_id, `leads/${id}`),
  ingest: (organisation_id, id) => apiOf(organisation_id, `ingests/${id}`),
  lead: (organisation_id, id) => apiOf(organisation_id, `leads/${id}`),
  policy: (_organisation_id, id) => `/admin/v1/policies/${id}/record`,
}

export type RecordName = { readonly type: string; readonly id: string }

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** The page that a record has beside its history. */
export const ownPageOf = (organisation_id: string, { type, id }: RecordName): string | undefined => {
  const path = pages[type]
  return path === undefined ? undefined : pageOf(organisation_id, `${path}/${id}`)
}

/** The address that shows a record as of a moment; undefined: none does. */
export const asOfAddress = (organisation_id: string, { type, id }: RecordName): string | undefined =>
  addresses[type]?.(organisation_id, id)

export const historyOf = (organisation_id: string, { type, id }: RecordName): string =>
  pageOf(organisation_id, `history/records/${type}/${id}`)

/** The page that shows a record as of a moment; undefined: none does. */
export const thenPageOf = (organisation_id: string, record: RecordName): string | undefined => {
  if (asOfAddress(organisation_id, record) === undefined) return undefined
  return ownPageOf(organisation_id, record) ?? `${historyOf(organisation_id, record)}/then`
}

/** A record as a link to its history. */
export const recordLink = (organisation_id: string, record: RecordName): View =>
  uuid.test(record.id) ? link(historyOf(organisation_id, record), words(record.type)) : words(record.type)
