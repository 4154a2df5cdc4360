import type { Rejection } from '#domain/rejection.ts'
import type { Request } from 'express'
import { inBodyRoom } from '#infra/http/body-room.ts'
import { Problem } from '#infra/http/problem.ts'
import { addressOf, rateLimitHeaders, type RateLimit } from '#infra/http/rate-limit.ts'
import { readWhole } from './read-whole.ts'

/**
 * Limits of inbound deliveries. Nothing is kept of an address that names nothing, and a sender who cannot sign uses up nothing
 * of those who can.
 */
export type DeliveryLimits = {
  /** Counts all that comes from one address, whatever it is sent to. */
  readonly fromSender: RateLimit
  /** Counts what is rightly signed, by what it is for. */
  readonly signed: RateLimit
  /** Counts what is refused, by what it is for. */
  readonly refused: RateLimit
}

/** The one counter for deliveries to addresses that name nothing. */
export const nothingKnown = 'unknown'

type Delivery<Proof> = {
  /** The organisation that it is for; undefined where that takes no deliveries. */
  readonly organisation_id: string | undefined
  /** True where its signature may be right: otherwise its body is not read. */
  readonly isWellSigned: boolean
  readonly mostBytes: number
  /** The proof from the signature; undefined where it is wrong. */
  readonly prove: (body: Buffer) => Proof | undefined
  readonly refusal: Problem | Rejection
}

/** The body of a provider's delivery, once it is proven. Throws a Problem to refuse it. */
export const provenDelivery = async <Proof>(
  request: Request,
  { fromSender, signed, refused }: DeliveryLimits,
  { organisation_id, isWellSigned, mostBytes, prove, refusal }: Delivery<Proof>,
): Promise<{ readonly body: Buffer; readonly proof: Proof }> => {
  const sender = addressOf(request)
  await count(fromSender, sender)
  const read =
    organisation_id !== undefined && isWellSigned
      ? await inBodyRoom(request, async (take) => {
          const body = await readWhole(request, take, mostBytes)
          return body === 'too_large' ? body : { body, proof: prove(body) }
        })
      : undefined
  if (read !== 'too_large' && read?.proof !== undefined) {
    await count(signed, `${organisation_id} ${sender}`)
    return { body: read.body, proof: read.proof }
  }
  // What was not read of it is not waited for.
  if (!request.complete) request.res?.set('Connection', 'close')
  await count(refused, organisation_id ?? nothingKnown)
  throw read === 'too_large' ? tooLarge(mostBytes) : refusal
}

const tooLarge = (mostBytes: number) =>
  new Problem('validation_failed', `The body is larger than ${mostBytes / 1024} KB. Send less.`)

const count = async (limit: RateLimit, who: string): Promise<void> => {
  const decision = await limit(who)
  if (!decision.served)
    throw new Problem('rate_limited', 'Too many deliveries for this organisation, or from this address.', {
      headers: rateLimitHeaders(decision),
    })
}
