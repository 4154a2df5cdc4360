import { z } from 'zod'
import { OrganisationId } from '#domain/values.ts'
import type { SignedSpec } from '#infra/http/openapi.ts'
import { GatewayReport } from '#infra/message-channels/reports.ts'
import { messageNewsAddress } from './webhook.ts'

/** The address at which message gateways post, as the OpenAPI document shows it. */
export const messageNewsSpec: SignedSpec = {
  address: messageNewsAddress.replace(':organisation_id', '{organisation_id}'),
  operationId: 'postMessageNews',
  tag: 'Webhooks',
  summary: 'Tell of a reply to a message, of who asks to receive no more, or of what could not be delivered, signed',
  description: 'For message gateways and mail services. See docs/message-gateway.md.',
  path: z.object({ organisation_id: OrganisationId }),
  headers: {
    'X-Integrations-Signature':
      't=<unix seconds>,v1=<HMAC-SHA256 of t, a full stop and the raw body, in lower-case hex>, by the webhook secret.',
  },
  body: GatewayReport,
  answers: {
    200: 'Recorded, now or before; acted upon a moment later. Other types are ignored.',
    403: 'No signature, a malformed one, one of another secret or of another time.',
    404: 'There is no such organisation.',
    422: 'The body is not usable: the error names the field.',
    429: 'More than 3,000 signed or 3,000 refused ones in 5 minutes, or 30,000 from one sender: see Retry-After.',
    503: 'Not taken in: send it again.',
  },
}
