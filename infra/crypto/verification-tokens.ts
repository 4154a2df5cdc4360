import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto'
import type { Keys } from './keys.ts'

/** A request to a person to confirm by a link that this address or number is theirs. */
type Asked = {
  readonly organisation_id: string
  readonly contact_id: string
  readonly detail: (typeof details)[number]
  readonly expires_at: Date
}

// By their places in it they stand in tokens.
const details = ['email', 'phone_number'] as const
/** No other link begins so. */
const firstMark = 0x80

const idBytes = 16
const payloadBytes = 1 + 2 * idBytes + 4
const signatureBytes = 16

const bytesOf = (id: string): Buffer => Buffer.from(id.replaceAll('-', ''), 'hex')

const idFrom = (bytes: Buffer): string =>
  bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

const signatureOf = (key: KeyObject, payload: Buffer, value: string): Buffer =>
  createHmac('sha256', key).update(payload).update(value).digest().subarray(0, signatureBytes)

/** The token of a link. What is to be confirmed is signed with it and does not stand in it; nothing is stored for it. */
export const verificationTokenOf = ({ links }: Pick<Keys, 'links'>, asked: Asked, value: string): string => {
  const { organisation_id, contact_id, detail, expires_at } = asked
  const expires = Buffer.alloc(4)
  expires.writeUInt32BE(Math.floor(expires_at.getTime() / 1000))
  const mark = Buffer.from([firstMark + details.indexOf(detail)])
  const payload = Buffer.concat([mark, bytesOf(organisation_id), bytesOf(contact_id), expires])
  return Buffer.concat([payload, signatureOf(links.key, payload, value)]).toString('base64url')
}

/** The request in a token; `isFor` says whether we made it for this value. Undefined when it has another form. */
export const verificationAskedBy = ({ links }: Pick<Keys, 'links'>, token: string) => {
  if (!/^[\w-]{71}$/.test(token)) return undefined
  const bytes = Buffer.from(token, 'base64url')
  // The last character has bits to spare: a token that differs only in those is another token.
  if (bytes.toString('base64url') !== token) return undefined
  const payload = bytes.subarray(0, payloadBytes)
  const signature = bytes.subarray(payloadBytes)
  const detail = details[(payload[0] ?? 0) - firstMark]
  if (!detail) return undefined
  const asked: Asked = {
    detail,
    organisation_id: idFrom(payload.subarray(1, 1 + idBytes)),
    contact_id: idFrom(payload.subarray(1 + idBytes, 1 + 2 * idBytes)),
    expires_at: new Date(payload.readUInt32BE(1 + 2 * idBytes) * 1000),
  }
  const isFor = (value: string): boolean =>
    [links.key, ...links.earlier]
      .map((key) => timingSafeEqual(signature, signatureOf(key, payload, value)))
      .includes(true)
  return { ...asked, isFor }
}
