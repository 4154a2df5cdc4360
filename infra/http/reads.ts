/** What query-api serves of the operator's addresses, at /admin/v1 and below an organisation. */
const lists = [
  'claims',
  'deliveries',
  'delivery_connections',
  'delivery_recoveries',
  'key_documents',
  'market_searches',
  'policies',
  'premiums',
  'quotes',
  'rate_tables',
  'releases',
  'team_applications',
]
const listsOfOrganisation = [
  'consent_history',
  'custom_integrations',
  'erasures',
  'held_outcomes',
  'ingests',
  'integration_connections',
  'integration_logs',
  'lead_events',
  'leads',
  'ledger',
  'memberships',
  'message_news',
  'outcomes',
  'outreach_outbox',
  'outreach_streams',
  'payment_news',
  'payments',
  'proposed_details',
  'reading_use',
  'set_up_changes',
  'verification_history',
]

/**
 * The addresses whose GET and HEAD go to query-api; all else goes to command-api. The reverse proxy has the same
 * expression (deploy/nginx.conf), and a test compares both with the routes.
 */
export const readAddresses = `/(api/v1|admin/v1/(${lists.join('|')}|organisations/[^/]+/(${listsOfOrganisation.join('|')})))(/|$)`

const addresses = new RegExp(`^${readAddresses}`)

export const isRead = (method: string | undefined, url: string | undefined): boolean =>
  (method === 'GET' || method === 'HEAD') && addresses.test((url ?? '').split('?', 1)[0] ?? '')
