import { isUtf8 } from 'node:buffer'
import express, { type Request, type RequestHandler, type Response } from 'express'
import { parseExactly, withParts } from '#domain/exact-json.ts'
import { inBodyRoom } from './body-room.ts'
import { isNestedTooDeep, refusedNesting } from './nesting.ts'
import { notJson, Problem, unreadableBody } from './problem.ts'
import type { RouteSpec } from './route.ts'

const limitBytes = 262_144

const refuseDeepNesting = (body: Buffer): void => {
  if (isNestedTooDeep(body)) throw new Problem('validation_failed', refusedNesting)
}

/** Refuses what would be read in part (a byte that is no UTF-8), or past the check of nesting, which counts bytes. */
const refuseOtherThanUtf8 = (body: Buffer, charset: string): void => {
  if (charset !== 'utf-8' || !isUtf8(body))
    throw new Problem(
      'validation_failed',
      'The body is not UTF-8. Send one JSON object, in UTF-8, as application/json.',
    )
}

/** The sent body, parsed; and the texts in it that were sent as numbers. */
type Sent = { readonly body: unknown; readonly numbers: readonly string[] }

const readable = (body: Buffer, charset: string): void => {
  refuseOtherThanUtf8(body, charset)
  refuseDeepNesting(body)
}

const parseAny = express.json({
  limit: limitBytes,
  verify: (_request, _response, body, charset) => readable(body, charset),
})
/** Its bytes are parsed here. */
const parseAnyAsGiven = express.raw({
  limit: limitBytes,
  type: 'application/json',
  verify: (request, _response, body) => readable(body, charsetOf(request.headers['content-type'])),
})
const charsetOf = (type = ''): string => /;\s*charset="?([^\s;"]+)/i.exec(type)?.[1]?.toLowerCase() ?? 'utf-8'
const fileLimitBytes = 8_388_608
const textTypes = ['text/*', 'application/yaml', 'application/x-www-form-urlencoded']
const parseText = express.text({ limit: limitBytes, type: textTypes })
/** Only the operator sends files, such as a set-up file. */
const parseFile = express.text({ limit: fileLimitBytes, type: textTypes })

const handled = (parse: RequestHandler, request: Request, response: Response): Promise<void> =>
  new Promise((resolve, reject) => {
    void parse(request, response, (error?: unknown) => (error instanceof Error ? reject(error) : resolve()))
  })

/** True for a body as nearly all are: JSON in UTF-8, not compressed, of a length that is known and allowed. */
const isUsual = ({ headers }: Request): boolean => {
  const length = Number(headers['content-length'])
  return (
    length > 0 &&
    length <= limitBytes &&
    headers['transfer-encoding'] === undefined &&
    headers['content-encoding'] === undefined &&
    /^application\/json(; ?charset=utf-8)?$/i.test(headers['content-type'] ?? '')
  )
}

const bytesOf = (request: Request): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let isWhole = false
    // Every request closes, and an error that nobody sees costs a stack trace.
    const cutShort = () => {
      if (!isWhole) reject(new Problem('validation_failed', unreadableBody))
    }
    if (request.destroyed) return cutShort()
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .once('end', () => {
        isWhole = true
        resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks))
      })
      .once('error', cutShort)
      .once('close', cutShort)
  })

const withoutMark = (body: Buffer): Buffer =>
  body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body

const parse = (body: Buffer, asGiven: RouteSpec['asGiven']): Sent => {
  const text = withoutMark(body).toString()
  try {
    if (!asGiven) return { body: JSON.parse(text) as unknown, numbers: [] }
    const { value, numbers } = parseExactly(text)
    // Elsewhere, numbers are what they are worth: 1.0 is 1.
    const sent = numbers.size === 0 ? value : withParts(JSON.parse(text), value, asGiven)
    return { body: sent, numbers: [...numbers] }
  } catch (error) {
    throw error instanceof SyntaxError ? new Problem('validation_failed', notJson) : error
  }
}

/** Express decodes whatever encoding a body is in, which takes three times as long as the usual one needs. */
const jsonReader =
  (asGiven: RouteSpec['asGiven']) =>
  async (request: Request, response: Response): Promise<readonly string[]> => {
    if (isUsual(request)) {
      const bytes = await bytesOf(request)
      readable(bytes, 'utf-8')
      return keep(request, parse(bytes, asGiven))
    }
    await handled(asGiven ? parseAnyAsGiven : parseAny, request, response)
    const bytes: unknown = request.body
    return asGiven && bytes instanceof Buffer ? keep(request, parse(bytes, asGiven)) : []
  }

const keep = (request: Request, { body, numbers }: Sent): readonly string[] => {
  request.body = body
  return numbers
}

/** As much as a body may come to need: what is compressed, or of unknown length, may need the most. */
const bytesAtMost = ({ headers }: Request, most: number): number => {
  if (headers['transfer-encoding'] !== undefined || headers['content-encoding'] !== undefined) return most
  return Math.min(Number(headers['content-length'] ?? 0), most)
}

/** Reads a body of someone who has not proven who they are. */
export const parseInRoom = (parse: RequestHandler, request: Request, response: Response, most: number): Promise<void> =>
  readInRoom(() => handled(parse, request, response), request, most)

const readInRoom = <Read>(read: () => Promise<Read>, request: Request, most = limitBytes): Promise<Read> =>
  inBodyRoom(request, (take) => {
    take(bytesAtMost(request, most))
    return read()
  })

/**
 * Reads the body of a route; nothing where it has none, so that nobody can make us hold one. Anybody can have the token of a
 * browser application, so that only servers and the operator count as proven. Answers the texts in it that were sent as numbers.
 */
export const bodyReader = ({
  body,
  asGiven,
  textBody,
  access,
}: RouteSpec): ((request: Request, response: Response, isProven: boolean) => Promise<readonly string[]>) => {
  if (!body && textBody === undefined) return async () => []
  const readText = async (request: Request, response: Response): Promise<readonly string[]> => {
    await handled(access.kind === 'team' ? parseFile : parseText, request, response)
    return []
  }
  const read = body ? jsonReader(asGiven) : readText
  return (request, response, isProven) =>
    isProven ? read(request, response) : readInRoom(() => read(request, response), request)
}
