import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { RequestHandler } from 'express'

const compress = promisify(gzip)

/**
 * Answers with the same bytes each time: compressed once, for those who take that, and not at all for those who have them
 * already.
 */
export const prepared = (content: Buffer, type: string, headers: Readonly<Record<string, string>>): RequestHandler => {
  const etag = `W/"${createHash('sha256').update(content).digest('base64url').slice(0, 27)}"`
  let compressed: Promise<Buffer> | undefined

  return async (request, response) => {
    response.set({ 'Cache-Control': 'no-cache', ETag: etag, ...headers }).vary('Accept-Encoding')
    if (request.fresh) {
      response.status(304).end()
      return
    }
    const takesGzip = request.acceptsEncodings('gzip') !== false
    const body = takesGzip ? await (compressed ??= compress(content)) : content
    if (takesGzip) response.set('Content-Encoding', 'gzip')
    response.set({ 'Content-Type': type, 'Content-Length': String(body.byteLength) }).end(body)
  }
}
