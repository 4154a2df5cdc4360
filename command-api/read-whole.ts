import type { IncomingMessage } from 'node:http'

const mostBytes = 262_144
const mostDiscardedBytes = 32 * 2 ** 20

/**
 * The body as it came, not decompressed: the signature is of these bytes. What is beyond the limit is read and thrown away,
 * since a sender that is still sending would not see the answer.
 */
export const readWhole = async (request: IncomingMessage): Promise<Buffer | 'too_large'> => {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes <= mostBytes) chunks.push(chunk)
    else chunks.length = 0
    if (bytes > mostDiscardedBytes) break
  }
  return bytes > mostBytes ? 'too_large' : Buffer.concat(chunks)
}
