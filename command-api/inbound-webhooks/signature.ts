import { createHmac, timingSafeEqual } from 'node:crypto'

/** Tolerated difference between the sender's clock and ours. */
const toleranceSeconds = 300

/** Faults of a signature header, whatever the body is. */
type HeaderFault = 'no_signature' | 'malformed_signature' | 'timestamp_out_of_range'
export type SignatureFault = HeaderFault | 'signature_mismatch'

/** The signature of a header that is well formed, of a time that is near enough. */
type GivenSignature = { readonly t: string; readonly v1: string }

/**
 * The signature in the headers, before the body is read. Only `t` and `v1` are read, and each must be there once, so that a
 * delivery has one signature and one time.
 */
export const givenSignature = (headers: readonly string[], now: Date): GivenSignature | HeaderFault => {
  const [header, ...others] = headers
  if (header === undefined) return 'no_signature'
  const signature = others.length === 0 ? parseSignature(header) : undefined
  if (!signature) return 'malformed_signature'
  const isNear = Math.abs(Math.floor(now.getTime() / 1_000) - Number(signature.t)) <= toleranceSeconds
  return isNear ? signature : 'timestamp_out_of_range'
}

/** The fault of a signature over the raw body; undefined where it is right. */
export const signatureFault = (
  secret: string,
  body: Buffer,
  headers: readonly string[],
  now: Date,
): SignatureFault | undefined => {
  const given = givenSignature(headers, now)
  if (typeof given === 'string') return given
  const expected = createHmac('sha256', secret).update(`${given.t}.`).update(body).digest()
  return timingSafeEqual(expected, Buffer.from(given.v1, 'hex')) ? undefined : 'signature_mismatch'
}

const parseSignature = (header: string): GivenSignature | undefined => {
  const parts = header.split(',').map((part): readonly [name: string, value: string] => {
    const at = part.indexOf('=')
    return at < 0 ? [part.trim(), ''] : [part.slice(0, at).trim(), part.slice(at + 1).trim()]
  })
  const [t = '', ...otherTimes] = valuesOf(parts, 't')
  const [v1 = '', ...otherSignatures] = valuesOf(parts, 'v1')
  const isWhole = /^\d{1,12}$/.test(t) && /^[0-9a-f]{64}$/.test(v1)
  return isWhole && otherTimes.length === 0 && otherSignatures.length === 0 ? { t, v1 } : undefined
}

const valuesOf = (parts: readonly (readonly [name: string, value: string])[], wanted: string): readonly string[] =>
  parts.filter(([name]) => name === wanted).map(([, value]) => value)
