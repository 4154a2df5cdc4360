import { isUtf8 } from 'node:buffer'
import { Router, type Request, type Response } from 'express'
import type { Directory } from '#domain/access/record.ts'
import { inboundEvent } from '#domain/custom-integrations/inbound-event.ts'
import { readEvent } from '#domain/custom-integrations/read-event.ts'
import {
  inboundAddress,
  integrationSecretBinding,
  type CustomIntegration,
  type Integrations,
  type SealedConnection,
} from '#domain/custom-integrations/record.ts'
import type { Inbound } from '#domain/custom-integrations/events.ts'
import type { Json } from '#domain/event.ts'
import type { OrganisationId } from '#domain/values.ts'
import { realTime as databaseTime, type Clock } from '#infra/clock.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import { unseal } from '#infra/crypto/seal.ts'
import { inBodyRoom } from '#infra/http/body-room.ts'
import { isNestedTooDeep } from '#infra/http/nesting.ts'
import { Problem } from '#infra/http/problem.ts'
import { addressOf } from '#infra/http/rate-limit.ts'
import { derivedId } from '#infra/ids.ts'
import type { Log } from '#infra/log.ts'
import { commandHandler, type Context, type Writer } from '../writing/handle.ts'
import type { IntegrationLog } from './integration-log.ts'
import { readWhole } from '../inbound-webhooks/read-whole.ts'
import { givenSignature, signatureFault, type SignatureFault } from '../inbound-webhooks/signature.ts'
import { nothingKnown, type DeliveryLimits } from '../inbound-webhooks/signed-delivery.ts'

export type InboundDeps = {
  readonly writer: Writer
  readonly keys: Pick<Keys, 'sealing'>
  readonly digest: DataKeys['digest']
  readonly integrations: Integrations
  readonly directory: Pick<Directory, 'organisations'>
  readonly integrationLog: IntegrationLog
  readonly limits: DeliveryLimits
  /** Throws when what this process knows of the integrations is too old to decide on. */
  readonly requireCurrent: (organisation_id?: OrganisationId) => void
  readonly clock: Clock
  /** The time by which signatures are judged. */
  readonly realTime?: () => Date
  readonly log: Log
}

const address = `${inboundAddress}/:connection_id`

type Refusal =
  | SignatureFault
  | 'revoked'
  | 'organisation_inactive'
  | 'no_signing_secret'
  | 'too_large'
  | 'not_json'
  | 'not_an_object'
  | 'nested_too_deep'

const statusOf: Readonly<Record<Refusal, 400 | 403 | 404>> = {
  revoked: 404,
  organisation_inactive: 403,
  no_signing_secret: 403,
  no_signature: 403,
  malformed_signature: 403,
  timestamp_out_of_range: 403,
  signature_mismatch: 403,
  too_large: 400,
  not_json: 400,
  not_an_object: 400,
  nested_too_deep: 400,
}

type Found = {
  readonly connection: SealedConnection
  readonly integration: CustomIntegration
  readonly inbound: Inbound
}

type Verdict = { readonly bytes: number | null } & (
  | { readonly refused: Refusal }
  | { readonly followed: string; readonly event_type: string | null; readonly inbound_event_id: string | null }
)

/**
 * The address at which other systems post their events. The signature is checked on the raw bytes, before they are read. An
 * accepted event is processed a moment later; one that could not be taken in is answered 5xx, so that it is sent again.
 */
export const inboundWebhook = (deps: InboundDeps): Router => {
  const { integrations, integrationLog, limits, requireCurrent, log } = deps
  const prove = makeProof(deps)
  const accept = makeAccept(deps)

  const find = (id: string): Found | undefined => {
    const connection = integrations.connections.get(id.toLowerCase())
    const integration = connection && integrations.integrations.get(connection.custom_integration_id)
    return connection && integration?.inbound ? { connection, integration, inbound: integration.inbound } : undefined
  }

  const serve = async (request: Request, response: Response): Promise<void> => {
    response.locals['address'] = address
    const source_address = addressOf(request)
    const found = find(String(request.params['connection_id']))
    const tooMany = (reason: string, resumesAt: number) => {
      if (found) integrationLog.recordTooMany({ ...originOf(found), status: 429, reason, source_address })
      response.set('Retry-After', String(Math.max(1, resumesAt - Math.floor(Date.now() / 1_000))))
      answer(response, 429)
    }
    const fromSender = await limits.fromSender(source_address)
    if (!fromSender.served) return tooMany('too_many_from_address', fromSender.resumesAt)
    requireCurrent(found?.connection.organisation_id)
    const proof = found ? await prove(found, request) : undefined
    const limit = proof && 'signed' in proof ? limits.signed : limits.refused
    const counted = await limit(found?.connection.id ?? nothingKnown)
    if (!counted.served) return tooMany('too_many_to_url', counted.resumesAt)
    if (!found || !proof) return answer(response, 404)

    const verdict = 'signed' in proof ? await accept(found, proof.signed, String(response.locals['request_id'])) : proof
    const isRefused = 'refused' in verdict
    const status = isRefused ? statusOf[verdict.refused] : 200
    const entry = {
      ...originOf(found),
      direction: 'inbound' as const,
      accepted: !isRefused,
      status,
      reason: isRefused ? verdict.refused : verdict.followed,
      event_type: isRefused ? null : verdict.event_type,
      subject_id: isRefused ? null : verdict.inbound_event_id,
      bytes: verdict.bytes,
      source_address,
    }
    // What was accepted is in the log of events already, so the sender need not know that this entry is missing.
    await integrationLog.record(entry).catch((error: unknown) => {
      log.error({ error, ...entry }, 'delivery was not written to the integration log')
    })
    answer(response, status)
  }

  const router = Router({ caseSensitive: true, strict: true })
  router.post(address, async (request, response) => {
    try {
      await serve(request, response)
    } catch (error) {
      const isCutOff = request.destroyed && !request.complete
      if (isCutOff) return
      // There was no room for its body.
      const isForNow = error instanceof Problem && error.code === 'unavailable'
      if (!isForNow)
        log.error({ error, request_id: response.locals['request_id'] }, 'inbound delivery was not taken in')
      if (!response.headersSent) answer(response, 503)
    }
  })
  return router
}

/** Bodies of answers are empty. What was not read of the request is not waited for. */
const answer = (response: Response, status: number): void => {
  if (!response.req.complete) response.set('Connection', 'close')
  response.status(status).set('Content-Length', '0').end()
}

const originOf = ({ connection, integration }: Found) => ({
  organisation_id: connection.organisation_id,
  custom_integration_id: integration.id,
  connection_id: connection.id,
})

type Proof = { readonly signed: Buffer } | { readonly refused: Refusal; readonly bytes: number | null }

/** Checks the signature of a delivery. The body of one that surely is not rightly signed is not read. */
const makeProof =
  ({ keys, directory, realTime = databaseTime }: InboundDeps) =>
  async ({ connection, inbound }: Found, request: Request): Promise<Proof> => {
    const { organisation_id, id } = connection
    if (connection.revoked_at !== null) return { refused: 'revoked', bytes: null }
    if (directory.organisations.get(organisation_id)?.active !== true)
      return { refused: 'organisation_inactive', bytes: null }
    const { signing_secret, signature_header } = inbound
    const sealed = signing_secret === null ? undefined : connection.sealed_secrets[signing_secret]
    if (signing_secret === null || sealed === undefined) return { refused: 'no_signing_secret', bytes: null }
    const headers = request.headersDistinct[signature_header.toLowerCase()] ?? []
    const given = givenSignature(headers, realTime())
    if (typeof given === 'string') return { refused: given, bytes: null }

    return inBodyRoom(request, async (take): Promise<Proof> => {
      const body = await readWhole(request, take)
      if (body === 'too_large') return { refused: body, bytes: null }
      const secret = unseal(keys, sealed, integrationSecretBinding(organisation_id, id, signing_secret))
      const fault = signatureFault(secret, body, headers, realTime())
      return fault ? { refused: fault, bytes: body.length } : { signed: body }
    })
  }

const parse = (body: Buffer): Json | 'not_json' | 'not_an_object' | 'nested_too_deep' => {
  if (!isUtf8(body)) return 'not_json'
  if (isNestedTooDeep(body)) return 'nested_too_deep'
  try {
    const value: unknown = JSON.parse(body.toString(), exactly)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : 'not_an_object'
  } catch {
    return 'not_json'
  }
}

/**
 * A number that we would write otherwise, such as 1.10 or one of more digits than we hold, is taken as it was written: the
 * difference may be what tells two ids apart, or that an amount is not whole pence.
 */
const exactly = (_name: string, value: unknown, context?: { readonly source?: string }): unknown => {
  const written = (typeof value === 'number' && context?.source) || ''
  return written !== String(value) && /^-?\d+(\.\d+)?$/.test(written) ? written : value
}

/** Takes an event in, once: its id is that of a stream, which is begun with the event and all that follows from it. */
const makeAccept = ({ writer, digest, clock }: InboundDeps) => {
  const { handle } = commandHandler(writer, inboundEvent)

  return async ({ connection, integration, inbound }: Found, body: Buffer, request_id: string): Promise<Verdict> => {
    const bytes = body.length
    const { id: integration_connection_id, organisation_id } = connection
    const { id: custom_integration_id } = integration
    const event = parse(body)
    if (typeof event === 'string') return { refused: event, bytes }
    const { event_type, event_id, outcome, policy_id, ignored } = readEvent(inbound, event)
    if (ignored || event_type === null)
      return { followed: ignored ?? 'no_event_type', event_type, inbound_event_id: null, bytes }

    const text = body.toString()
    const natural = event_id === null ? ['body', text] : ['event_id', event_id]
    const digested = await digest(organisation_id, 'inbound event', JSON.stringify(natural))
    const inbound_event_id = derivedId(
      'inbound_event',
      organisation_id,
      integration_connection_id,
      digested.toString('hex'),
    )
    const context: Context = {
      organisation_id,
      actor: { type: 'system', id: `integration_connection-${integration_connection_id}` },
      correlation_id: request_id,
      now: clock.now().toISOString(),
    }
    const { events } = await handle(
      inbound_event_id,
      {
        type: 'AcceptInboundEvent',
        organisation_id,
        custom_integration_id,
        integration_connection_id,
        event_type,
        event_id,
        outcome,
        policy_id,
        body: policy_id === null ? null : text,
      },
      context,
    )
    return { followed: events.length === 0 ? 'repeated' : 'accepted', event_type, inbound_event_id, bytes }
  }
}
