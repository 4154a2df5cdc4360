import { encrypt } from '#infra/crypto/aead.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import type { Exchange, OutboundRequest } from '#infra/guarded-http.ts'
import { placeBytes } from '#infra/crypto/seal.ts'
import type { Claimed, Completed } from './queue.ts'

/** What is kept of an attempt beside its outcome. */
export type Recorded = Pick<Completed, 'exchange' | 'key_id' | 'sealed'>

/** Of each body so much is kept, and of each head so many headers, each so long. */
const mostBodyBytes = 4_096
const mostHeaders = 40
const longestHeader = 500

/**
 * What of a request, or of an answer, is no secret. Of all other headers the name is kept: the firm chooses those of an
 * integration, and any may hold a credential.
 */
const openRequestHeaders = new Set(['content-type', 'idempotency-key', 'x-service-signature', 'x-service-sequence'])
const secretAnswerHeaders = /cookie|auth|token|secret|key|session/i

/**
 * Keeps the heads of an attempt without secrets, and the bodies of one that failed, capped. Bodies are about a person, so they
 * are sealed under that person's key: when the person is erased, they are gone. Of what arrived no body is kept.
 */
export const exchangeRecorder =
  (dataKeys: Pick<DataKeys, 'of'>) =>
  async (claimed: Claimed, message: string, request: OutboundRequest, answer: Exchange): Promise<Recorded> => {
    const exchange = {
      request: {
        method: request.method,
        url: storable(withoutQuery(request.url)),
        headers: shownHeaders(request.headers, isOpen),
      },
      response:
        answer.outcome === 'answered'
          ? {
              status: answer.status,
              headers: shownHeaders(answer.headers ?? {}, (name) => !secretAnswerHeaders.test(name)),
            }
          : null,
    }
    const arrived = answer.outcome === 'answered' && answer.status >= 200 && answer.status < 300
    if (arrived || answer.outcome === 'refused') return { exchange, key_id: null, sealed: null }
    const response = answer.outcome === 'answered' ? capped(answer.body) : null
    const bodies = JSON.stringify({ request: capped(Buffer.from(request.body ?? '')), response })
    try {
      const subject = subjectOf(claimed, message)
      const { id: key_id, key } = await dataKeys.of({ organisation_id: claimed.organisation_id, subject })
      const sealed = encrypt(key, Buffer.from(bodies), bodiesPlace(claimed)).toString('base64')
      return { exchange, key_id, sealed }
    } catch {
      // The person was erased, or keys cannot be read now: the attempt counts all the same.
      return { exchange, key_id: null, sealed: null }
    }
  }

/** What the bodies of an attempt are sealed for. */
const bodiesPlace = ({ organisation_id, id, number }: Claimed): Buffer =>
  placeBytes([organisation_id, 'delivery', id, String(number)])

const isOpen = (name: string): boolean => openRequestHeaders.has(name.toLowerCase())

const shownHeaders = (headers: Readonly<Record<string, string>>, shows: (name: string) => boolean) =>
  Object.fromEntries(
    Object.entries(headers)
      .slice(0, mostHeaders)
      .map(([name, value]) => [storable(name), shows(name) ? storable(value) : '(not shown)']),
  )

const storable = (text: string): string => text.replaceAll('\0', '').toWellFormed().slice(0, longestHeader)

/** A query of the address may hold a credential. */
const withoutQuery = (address: string): string => {
  const at = address.indexOf('?')
  return at === -1 ? address : `${address.slice(0, at)}?(not shown)`
}

const capped = (body: Buffer): string => body.subarray(0, mostBodyBytes).toString()

type Named = { readonly id?: unknown } | null | undefined
type AboutPerson = {
  readonly contact_id?: unknown
  readonly customer?: Named
  readonly policy?: { readonly customer?: Named }
}

/** Whose key seals a body: the person whom it names, or else the record, as in the log. */
const subjectOf = ({ stream }: Claimed, body: string | undefined): string => {
  const person = personIn(body)
  return person === undefined ? stream : `person:${person}`
}

const personIn = (body: string | undefined): string | undefined => {
  try {
    const { contact_id, customer, policy } = JSON.parse(body ?? '{}') as AboutPerson // of our making, mostly
    const id = contact_id ?? customer?.id ?? policy?.customer?.id
    return typeof id === 'string' ? id : undefined
  } catch {
    return undefined
  }
}
