import { Router, type Request } from 'express'
import type { Provider } from '#domain/provider-accounts/events.ts'
import { accountOf, accountSecretBinding, type SealedAccount } from '#domain/provider-accounts/record.ts'
import type { Directory } from '#domain/access/record.ts'
import { OrganisationId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { realTime, type Clock } from '#infra/clock.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import { unsealOrFault } from '#infra/crypto/seal.ts'
import { isNestedTooDeep } from '#infra/http/nesting.ts'
import { notJson, parseRequest, Problem, problems } from '#infra/http/problem.ts'
import type { Log } from '#infra/log.ts'
import { GatewayReport } from '#infra/message-channels/reports.ts'
import type { Context } from '../writing/handle.ts'
import { provenDelivery, type DeliveryLimits } from '../inbound-webhooks/signed-delivery.ts'
import { givenSignature, signatureFault } from '../inbound-webhooks/signature.ts'

type Deps = {
  readonly keys: Pick<Keys, 'sealing'>
  readonly accounts: ReadonlyMap<string, SealedAccount>
  readonly directory: Pick<Directory, 'organisations'>
  /** Throws when what this process knows of the accounts is too old to decide on. */
  readonly requireCurrent: (organisation_id: OrganisationId) => void
  /** Count by themselves: these are no requests to the API. */
  readonly limits: DeliveryLimits
  readonly receive: (organisation_id: OrganisationId, report: GatewayReport, context: Context) => Promise<void>
  readonly clock: Clock
  /** The time by which signatures are judged. */
  readonly realTime?: () => Date
  readonly log: Log
}

export const messageNewsAddress = '/api/v1/webhooks/messages/:organisation_id'
const header = 'x-integrations-signature'
const mostBytes = 262_144
/** The accounts that messages leave by. */
const providers = ['message_gateway', 'smtp'] as const satisfies readonly Provider[]

/**
 * The webhook of message gateways: replies, people who ask to receive no more, and failed deliveries. The signature is checked
 * on the raw bytes, before they are read. What could not be recorded is answered 5xx, so that it is sent again.
 */
export const messageNewsWebhook = (deps: Deps): Router => {
  const { limits, receive, requireCurrent, clock, log } = deps
  const router = Router({ caseSensitive: true, strict: true })
  router.post(messageNewsAddress, async (request, response) => {
    response.locals['address'] = messageNewsAddress
    const { success, data: organisation_id } = OrganisationId.safeParse(request.params['organisation_id'])
    if (success) requireCurrent(organisation_id)
    const signers = success ? signersOf(deps, organisation_id) : []
    const { body } = await provenDelivery(request, limits, {
      organisation_id: signers.length > 0 ? organisation_id : undefined,
      isWellSigned: typeof givenSignature(signaturesOf(request), now(deps)) !== 'string',
      mostBytes,
      prove: (sent) => isSigned(deps, signers, sent, request) || undefined,
      refusal: success ? notSigned : notFound('organisation'),
    })
    const report = readReport(body)
    if (report && success)
      await receive(organisation_id, report, {
        organisation_id,
        actor: { type: 'system', id: 'message_gateway' },
        correlation_id: String(response.locals['request_id']),
        now: clock.now().toISOString(),
      })
    response.json({ received: true })
  })
  return router.use(problems(log))
}

const now = (deps: Deps): Date => deps.realTime?.() ?? realTime()
const signaturesOf = (request: Request): readonly string[] => request.headersDistinct[header] ?? []

type Signer = ReturnType<typeof unsealOrFault>

/** The signing secrets of an active organisation's accounts, or why they cannot be opened. */
const signersOf = ({ keys, accounts, directory }: Deps, organisation_id: OrganisationId): readonly Signer[] => {
  if (directory.organisations.get(organisation_id)?.active !== true) return []
  return providers.flatMap((provider) => {
    const account = accountOf(accounts, organisation_id, provider)
    if (!account || account.sealed_webhook_secret === null) return []
    const binding = accountSecretBinding(organisation_id, account.id, 'webhook_secret')
    return [unsealOrFault(keys, account.sealed_webhook_secret, binding)]
  })
}

const isSigned = (deps: Deps, signers: readonly Signer[], body: Buffer, request: Request): boolean => {
  const headers = signaturesOf(request)
  const isBySome = signers
    .map((opened) => 'secret' in opened && signatureFault(opened.secret, body, headers, now(deps)) === undefined)
    .includes(true)
  // It may be signed by the one that cannot be opened: it is to be sent again, not given up.
  const closed = signers.find((opened) => 'fault' in opened)
  if (!isBySome && closed) throw closed.fault
  return isBySome
}

const notSigned = new Problem(
  'forbidden',
  'The signature is missing, malformed, too old, or not that of an account of this organisation. Sign the body with its webhook secret.',
)

const known: ReadonlySet<unknown> = new Set(GatewayReport.options.map(({ shape }) => shape.type.value))

/** Undefined: of a kind that is no concern of ours. */
const readReport = (body: Buffer): GatewayReport | undefined => {
  const parsed = parsedObject(body)
  return typeof parsed['type'] === 'string' && !known.has(parsed['type'])
    ? undefined
    : parseRequest(GatewayReport, parsed, 'validation_failed')
}

const parsedObject = (body: Buffer): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = isNestedTooDeep(body)
      ? undefined
      : JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // It is refused like any other body that is none.
  }
  throw new Problem('validation_failed', notJson)
}
