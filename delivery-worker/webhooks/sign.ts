import { createHmac, type KeyObject } from 'node:crypto'

export const signatureHeader = 'X-Service-Signature'

/** The value of the signature header: HMAC-SHA256 over `t.body`, so that an old body cannot be sent again later. */
export const sign = (secret: string | KeyObject, body: string, at: Date): string => {
  const t = Math.floor(at.getTime() / 1000)
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`
}
