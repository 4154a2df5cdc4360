import type { IncomingMessage } from 'node:http'
import type { Take } from '#infra/http/body-room.ts'
import { Problem, unreadableBody } from '#infra/http/problem.ts'

const usualBytes = 262_144
const mostDiscardedBytes = 32 * 2 ** 20

/**
 * The body as it came, not decompressed: the signature is of these bytes. What is beyond the limit is read and thrown away,
 * since a sender that is still sending would not see the answer.
 */
export const readWhole = async (
  request: IncomingMessage,
  take: Take,
  mostBytes = usualBytes,
): Promise<Buffer | 'too_large'> => {
  const chunks: Buffer[] = []
  let bytes = 0
  const chunksOf: AsyncIterator<Buffer> = request.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]()
  const next = () =>
    chunksOf.next().catch((error: unknown) => {
      throw new Problem('validation_failed', unreadableBody, { cause: error })
    })
  for (let read = await next(); read.done !== true; read = await next()) {
    bytes += read.value.length
    if (bytes <= mostBytes) {
      take(read.value.length)
      chunks.push(read.value)
    } else chunks.length = 0
    if (bytes > mostDiscardedBytes) break
  }
  return bytes > mostBytes ? 'too_large' : Buffer.concat(chunks)
}
