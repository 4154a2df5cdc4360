import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto'
import type { Keys } from './keys.ts'

/** The subject of a message's link; `news`: of the reference that its gateway sends back in reports. */
export type LinkSubject = {
  readonly purpose: (typeof purposes)[number]
  readonly organisation_id: string
  readonly contact_id: string
  readonly stream_id: string
  readonly message_id: string
}

// By their places in it they stand in tokens.
const purposes = ['landing', 'survey', 'unsubscribe', 'news'] as const

const idBytes = 16
const payloadBytes = 1 + 4 * idBytes
const signatureBytes = 16

const bytesOf = (id: string): Buffer => Buffer.from(id.replaceAll('-', ''), 'hex')

const idFrom = (bytes: Buffer, index: number): string => {
  const hex = bytes.subarray(1 + index * idBytes, 1 + (index + 1) * idBytes).toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

const signatureOf = (key: KeyObject, payload: Buffer): Buffer =>
  createHmac('sha256', key).update(payload).digest().subarray(0, signatureBytes)

/** The token of a link: nothing is stored for it, and nobody can make one for another person. */
export const linkTokenOf = ({ links }: Pick<Keys, 'links'>, subject: LinkSubject): string => {
  const { purpose, organisation_id, contact_id, stream_id, message_id } = subject
  const payload = Buffer.concat([
    Buffer.from([purposes.indexOf(purpose)]),
    ...[organisation_id, contact_id, stream_id, message_id].map(bytesOf),
  ])
  return Buffer.concat([payload, signatureOf(links.key, payload)]).toString('base64url')
}

/** The subject of a token; undefined when we did not make it, or for another purpose. */
export const linkSubjectOf = (
  { links }: Pick<Keys, 'links'>,
  purpose: LinkSubject['purpose'],
  token: string,
): LinkSubject | undefined => {
  if (!/^[\w-]{108}$/.test(token)) return undefined
  const bytes = Buffer.from(token, 'base64url')
  const payload = bytes.subarray(0, payloadBytes)
  const signature = bytes.subarray(payloadBytes)
  const isOurs = [links.key, ...links.earlier]
    .map((key) => timingSafeEqual(signature, signatureOf(key, payload)))
    .includes(true)
  if (!isOurs || payload[0] !== purposes.indexOf(purpose)) return undefined
  const [organisation_id, contact_id, stream_id, message_id] = [0, 1, 2, 3].map((index) => idFrom(payload, index))
  if (!organisation_id || !contact_id || !stream_id || !message_id) return undefined
  return { purpose, organisation_id, contact_id, stream_id, message_id }
}
