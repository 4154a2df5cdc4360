import { createHmac } from 'node:crypto'
import { request } from 'node:http'

export const sign = (secret: string, body: string | Buffer, at = Date.now()): string => {
  const t = Math.floor(at / 1_000)
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')}`
}

type Answer = { readonly status: number; readonly text: string; readonly headers: NodeJS.Dict<string | string[]> }

/** Posts bytes as they are, with headers that may stand twice. */
export const postBytes = async (
  url: string,
  body: string | Buffer,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
): Promise<Answer> => {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const sending = request(
    url,
    {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
        ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat()])),
      },
    },
    (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const { statusCode: status = 0 } = response
        resolve({ status, text: Buffer.concat(chunks).toString(), headers: response.headers })
      })
      response.on('error', reject)
    },
  )
  sending.on('error', reject)
  sending.end(body)
  return promise
}
