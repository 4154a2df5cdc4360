import { productEvents } from '#domain/catalogue/events.ts'
import { rateTableEvents } from '#domain/rating/events.ts'

/** Shown as of a moment: by the records whose ids are in the address, and by all that have events of these types. */
type ShownAsOf = { readonly types: readonly string[] }
/** Not shown as of a moment, and why. */
type NotShown = { readonly because: string }

export type AsOf = ShownAsOf | NotShown

const byIds: AsOf = { types: [] }
const ofCatalogue: AsOf = { types: Object.keys(productEvents) }
const ofRateTables: AsOf = { types: Object.keys(rateTableEvents) }

const list: AsOf = { because: 'It lists many records. Ask for each of them.' }
const file: AsOf = { because: 'It is a file, which never changes.' }
const deliveries: AsOf = { because: 'Deliveries are no part of the log: they are shown as they are.' }
const lookup: AsOf = { because: 'It asks an outside party.' }
const past: AsOf = { because: 'It shows the past already: give it the times that you want.' }
const totals: AsOf = { because: 'It adds up many records. Give it as_of, the day that you want.' }
const sendersOwn: AsOf = { because: 'It shows an API application what it sent itself. Ask below /admin/v1.' }

/** Of every address that can be read: as of a moment, or why not. */
export const asOfAddresses: Readonly<Record<string, AsOf>> = {
  '/admin/v1/organisations/:organisation_id/payments': list,
  '/admin/v1/organisations/:organisation_id/payments/:id': byIds,
  '/admin/v1/organisations/:organisation_id/ledger/accounts': totals,
  '/admin/v1/organisations/:organisation_id/ledger/entries': list,
  '/admin/v1/organisations/:organisation_id/ledger/trial_balance': totals,
  '/audit/v1/organisations/:organisation_id/log': past,
  '/audit/v1/organisations/:organisation_id/checkpoints': past,
  '/audit/v1/organisations/:organisation_id/inclusion_proof': past,
  '/audit/v1/organisations/:organisation_id/consistency_proof': past,
  '/audit/v1/organisations/:organisation_id/log/checkpoint': past,
  '/audit/v1/organisations/:organisation_id/log/tile/:level/:tile': past,
  '/audit/v1/organisations/:organisation_id/as_of': past,
  '/audit/v1/organisations/:organisation_id/difference': past,
  '/audit/v1/organisations/:organisation_id/events': past,
  '/audit/v1/organisations/:organisation_id/requests/:request_id': past,
  '/audit/v1/organisations/:organisation_id/events/:event_id/deliveries': past,
  '/audit/v1/organisations/:organisation_id/records/:type/:id/history': past,
  '/audit/v1/organisations/:organisation_id/accesses': past,
  '/audit/v1/accesses': past,
  '/audit/v1/log': past,
  '/audit/v1/checkpoints': past,
  '/audit/v1/inclusion_proof': past,
  '/audit/v1/consistency_proof': past,
  '/audit/v1/log/checkpoint': past,
  '/audit/v1/log/tile/:level/:tile': past,
  '/audit/v1/events': past,
  '/admin/v1/premiums': list,
  '/admin/v1/claims': list,
  '/admin/v1/organisations/:organisation_id/message_news': list,
  '/admin/v1/organisations/:organisation_id/payment_news': list,
  '/admin/v1/organisations/:organisation_id/set_up_changes': list,
  '/admin/v1/organisations/:organisation_id/custom_integrations': list,
  '/admin/v1/organisations/:organisation_id/custom_integrations/:custom_integration_id': byIds,
  '/admin/v1/organisations/:organisation_id/integration_connections': list,
  '/admin/v1/organisations/:organisation_id/integration_connections/:integration_connection_id': byIds,
  '/admin/v1/organisations/:organisation_id/integration_logs': deliveries,
  '/api/v1/products': ofCatalogue,
  '/api/v1/products/:slug': ofCatalogue,
  '/api/v1/products/:product_slug/journeys': ofCatalogue,
  '/api/v1/products/:product_slug/journeys/:slug': ofCatalogue,
  '/api/v1/products/:product_slug/journeys/:slug/questions': ofCatalogue,
  '/api/v1/key_documents/:version_id': file,
  '/admin/v1/key_documents': list,
  '/api/v1/applications/:id': byIds,
  '/admin/v1/team_applications': list,
  '/admin/v1/team_applications/:id': byIds,
  '/admin/v1/team_applications/:id/timeline': byIds,
  '/api/v1/quotes/:id': byIds,
  '/api/v1/quotes/:id/before_you_buy': byIds,
  '/api/v1/applications/:id/quotes': byIds,
  '/admin/v1/quotes': list,
  '/admin/v1/quotes/:id/record': byIds,
  '/admin/v1/quotes/:id/evidence': byIds,
  '/admin/v1/releases': list,
  '/admin/v1/releases/:id': ofCatalogue,
  '/admin/v1/rate_tables': list,
  '/admin/v1/rate_tables/:key/versions/:version': ofRateTables,
  '/api/v1/policies/:id/premiums': byIds,
  '/api/v1/policies/:id/claims': byIds,
  '/api/v1/policies/:id': byIds,
  '/api/v1/policies/:id/documents/:version_id': file,
  '/admin/v1/policies': list,
  '/admin/v1/policies/:id/record': byIds,
  '/admin/v1/policies/:id/files/:version_id': file,
  '/admin/v1/policies/:id/timeline': byIds,
  '/api/v1/customers/validate_phone': lookup,
  '/api/v1/addresses/lookup': lookup,
  '/admin/v1/market_searches': list,
  '/api/v1/crm/leads': sendersOwn,
  '/api/v1/crm/events': sendersOwn,
  '/api/v1/crm/ingests/:id': sendersOwn,
  '/api/v1/programme_memberships/:external_ref': sendersOwn,
  '/admin/v1/organisations/:organisation_id/memberships': list,
  '/admin/v1/organisations/:organisation_id/memberships/:id/events': byIds,
  '/api/v1/outreach/streams/:id': sendersOwn,
  '/admin/v1/organisations/:organisation_id/outreach_streams': list,
  '/admin/v1/organisations/:organisation_id/outreach_streams/:stream_id': byIds,
  '/admin/v1/organisations/:organisation_id/outreach_streams/:stream_id/members': byIds,
  '/admin/v1/organisations/:organisation_id/outreach_streams/:stream_id/messages': byIds,
  '/admin/v1/organisations/:organisation_id/outreach_outbox': list,
  '/admin/v1/organisations/:organisation_id/outreach_streams/:stream_id/costs': byIds,
  '/admin/v1/organisations/:organisation_id/leads': list,
  '/admin/v1/organisations/:organisation_id/leads/:contact_id': byIds,
  '/admin/v1/organisations/:organisation_id/leads/:contact_id/timeline': byIds,
  '/admin/v1/organisations/:organisation_id/leads/:contact_id/history': byIds,
  '/admin/v1/organisations/:organisation_id/lead_events': list,
  '/api/v1/crm/outcomes/model': ofCatalogue,
  '/api/v1/crm/outcomes': sendersOwn,
  '/admin/v1/organisations/:organisation_id/outcomes': list,
  '/admin/v1/organisations/:organisation_id/held_outcomes': list,
  '/admin/v1/deliveries': deliveries,
  '/admin/v1/deliveries/:id': deliveries,
  '/admin/v1/delivery_recoveries': deliveries,
  '/admin/v1/delivery_recoveries/:id': deliveries,
  '/admin/v1/delivery_connections': deliveries,
  '/api/v1/lifecycle_events': deliveries,
  '/admin/v1/organisations/:organisation_id/ingests': list,
  '/admin/v1/organisations/:organisation_id/ingests/:ingest_id': byIds,
  '/admin/v1/organisations/:organisation_id/proposed_details': list,
  '/admin/v1/organisations/:organisation_id/reading_use': list,
  '/admin/v1/organisations/:organisation_id/consent_history': past,
  '/admin/v1/organisations/:organisation_id/verification_history': past,
  '/admin/v1/organisations/:organisation_id/erasures': list,
  '/admin/v1/organisations/:organisation_id/erasures/:contact_id': byIds,
}
