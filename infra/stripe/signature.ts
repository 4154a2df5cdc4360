import { realNow } from '../clock.ts'
import { stripe } from './library.ts'

/** The most that the time of a signature may differ from now. */
const toleranceSeconds = 300

/**
 * True for a header in the form of the provider's signatures, of a time near enough: otherwise nothing else need be looked at.
 */
export const mayBeSignature = (header: string, now = realNow()): boolean => {
  const parts = header.split(',')
  // Of several times the last counts, as in the provider's own library.
  const time = parts.findLast((part) => part.startsWith('t=')) ?? ''
  const isNear = /^t=\d{1,12}$/.test(time) && Math.abs(now / 1_000 - Number(time.slice(2))) <= toleranceSeconds + 1
  return isNear && parts.some((part) => /^v1=[0-9a-f]{64}$/.test(part))
}

/** True where the provider has signed these bytes with the secret, at most five minutes ago. */
export const isSignedBy = (secret: string, body: Buffer, header: string): boolean => {
  const { webhooks, errors } = stripe()
  try {
    return webhooks.signature?.verifyHeader(body, header, secret, undefined, undefined, realNow()) === true
  } catch (error) {
    if (error instanceof errors.StripeSignatureVerificationError) return false
    throw error
  }
}
