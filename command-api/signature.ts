import { createHmac, timingSafeEqual } from 'node:crypto'

/** How far the sender's clock may be from ours. */
const toleranceSeconds = 300

export type SignatureFault = 'no_signature' | 'malformed_signature' | 'timestamp_out_of_range' | 'signature_mismatch'

/**
 * What is wrong with the signature of a body as it came; undefined: nothing. Only `t` and `v1` are read, and each must be
 * there once, so that a delivery has one signature and one time.
 */
export const signatureFault = (
  secret: string,
  body: Buffer,
  headers: readonly string[],
  now: Date,
): SignatureFault | undefined => {
  const [header, ...others] = headers
  if (header === undefined) return 'no_signature'
  const signature = others.length === 0 ? parseSignature(header) : undefined
  if (!signature) return 'malformed_signature'
  const { t, v1 } = signature
  if (Math.abs(Math.floor(now.getTime() / 1_000) - Number(t)) > toleranceSeconds) return 'timestamp_out_of_range'
  const expected = createHmac('sha256', secret).update(`${t}.`).update(body).digest()
  return timingSafeEqual(expected, Buffer.from(v1, 'hex')) ? undefined : 'signature_mismatch'
}

const parseSignature = (header: string): { readonly t: string; readonly v1: string } | undefined => {
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
