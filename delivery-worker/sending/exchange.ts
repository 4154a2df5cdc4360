import { createHash } from 'node:crypto'
import type { Json } from '#domain/event.ts'
import { encrypt } from '#infra/crypto/aead.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import type { Exchange } from '#infra/guarded-http.ts'
import { bindingBytes } from '#infra/crypto/seal.ts'
import { subjectOfStream } from '#infra/crypto/subjects.ts'
import type { MadeRequest } from '../capability.ts'
import type { Claimed, Completed } from './queue.ts'
import { peopleShown } from './snapshot.ts'

/** The record kept of an attempt beside its outcome. */
export type Recorded = Pick<Completed, 'exchange' | 'key_id' | 'sealed'>

/** The most that is kept of a body, of a head's headers, and of each header. */
const mostBodyBytes = 4_096
const mostHeaders = 40
const longestHeader = 500

/**
 * The headers of a request, or of an answer, that are no secret. Of all others the name is kept: the firm chooses those of an
 * integration, and any may hold a credential.
 */
const openRequestHeaders = new Set(['content-type', 'idempotency-key', 'x-service-signature', 'x-service-sequence'])
const secretAnswerHeaders = /cookie|auth|token|secret|key|session/i
/** Headers with the address of a record of the other system: often that of a person, under their own name or address. */
const addressHeaders = /^(content-location|link|location|refresh)$/i

/**
 * Keeps the heads of an attempt without secrets, and the bodies of one that failed, capped. Bodies are about a person, so they
 * are sealed under that person's key: when the person is erased, they are gone. Of what arrived no body is kept, nor of what is
 * about two people, since each may be erased without the other.
 */
export const exchangeRecorder =
  (dataKeys: Pick<DataKeys, 'of'>) =>
  async (claimed: Claimed, message: string, request: MadeRequest, answer: Exchange): Promise<Recorded> => {
    const exchange = {
      request: {
        method: request.method,
        url: storable(withoutQuery(request.kept_url ?? request.url)),
        headers: shownHeaders(request.headers, isOpen),
        ...(request.body === undefined ? {} : { body_sha256: sha256(request.body) }),
      },
      response:
        answer.outcome === 'answered'
          ? {
              status: answer.status,
              headers: shownHeaders(answer.headers ?? {}, (name) => showsAnswer(name, request)),
            }
          : null,
    }
    const arrived = answer.outcome === 'answered' && answer.status >= 200 && answer.status < 300
    if (arrived || answer.outcome === 'refused') return { exchange, key_id: null, sealed: null }
    const subject = subjectOf(claimed, message)
    if (subject === undefined) return { exchange, key_id: null, sealed: null }
    const response = answer.outcome === 'answered' ? capped(answer.body) : null
    const bodies = JSON.stringify({ request: capped(Buffer.from(request.body ?? '')), response })
    try {
      const { id: key_id, key } = await dataKeys.of({ organisation_id: claimed.organisation_id, subject })
      const sealed = encrypt(key, Buffer.from(bodies), bodiesBinding(claimed)).toString('base64')
      return { exchange, key_id, sealed }
    } catch {
      // The person was erased, or keys cannot be read now: the attempt counts all the same.
      return { exchange, key_id: null, sealed: null }
    }
  }

/** The binding under which the bodies of an attempt are sealed. */
const bodiesBinding = ({ organisation_id, id, number }: Claimed): Buffer =>
  bindingBytes([organisation_id, 'delivery', id, String(number)])

const showsAnswer = (name: string, { kept_url }: MadeRequest): boolean =>
  !secretAnswerHeaders.test(name) && (kept_url === undefined || !addressHeaders.test(name))

const isOpen = (name: string): boolean => openRequestHeaders.has(name.toLowerCase())

const shownHeaders = (headers: Readonly<Record<string, string>>, shows: (name: string) => boolean) =>
  Object.fromEntries(
    Object.entries(headers)
      .slice(0, mostHeaders)
      .map(([name, value]) => [storable(name), shows(name) ? storable(value) : '(not shown)']),
  )

const sha256 = (body: string | Buffer): string => createHash('sha256').update(body).digest('hex')

const storable = (text: string): string => text.replaceAll('\0', '').toWellFormed().slice(0, longestHeader)

/** A query of the address may hold a credential. */
const withoutQuery = (address: string): string => {
  const at = address.indexOf('?')
  return at === -1 ? address : `${address.slice(0, at)}?(not shown)`
}

const capped = (body: Buffer): string => body.subarray(0, mostBodyBytes).toString()

/** The subject whose key seals a body: the person whom it names, or else the record, as in the log. Undefined: it names two. */
const subjectOf = ({ stream }: Claimed, body: string): string | undefined => {
  const [person, ...others] = peopleIn(body)
  if (others.length > 0) return undefined
  return subjectOfStream(stream, person ?? null)
}

const peopleIn = (body: string): readonly string[] => {
  const message = JSON.parse(body) as Json // of our making
  const { contact_id } = message
  return typeof contact_id === 'string' ? [contact_id] : peopleShown('', message)
}
