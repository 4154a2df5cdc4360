import { z } from 'zod'
import { inboundAddress } from '#domain/custom-integrations/record.ts'
import type { SignedSpec } from '#infra/http/openapi.ts'

/** The address at which other systems post their events, as in the OpenAPI document. */
export const inboundSpec: SignedSpec = {
  address: `${inboundAddress}/{connection_id}`,
  operationId: 'postInboundWebhook',
  tag: 'Webhooks',
  summary: 'Post an event of another system, signed',
  description:
    'The address of each connection is shown by GET /admin/v1/organisations/{organisation_id}/integration_connections. See docs/inbound-webhooks.md for what senders do.',
  path: z.object({ connection_id: z.uuid() }),
  headers: {
    'X-Integrations-Signature':
      't=<unix seconds>,v1=<HMAC-SHA256 of t, a full stop and the raw body, in lower-case hex>. The integration may name another header.',
  },
  body: z.record(z.string(), z.unknown()).describe('One event: an object in the form of the other system.'),
  answers: {
    200: 'Accepted, and processed a moment later.',
    400: 'The body is not a JSON object.',
    403: 'No signature, a malformed one, one of another secret or of another time, or no signing secret is chosen.',
    404: 'There is no such integration, or it was revoked.',
    429: 'More than 3,000 signed or 3,000 refused ones in 5 minutes to this address, or 30,000 from one sender: see Retry-After.',
    503: 'Not taken in: send it again.',
  },
}
