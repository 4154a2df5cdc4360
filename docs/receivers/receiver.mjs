import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const secret = process.env.SIGNING_SECRET
const clock = () => Number(process.env.FIXED_NOW ?? Date.now() / 1000)

/** Whether a body comes from the service, and is not an old one that somebody sends again. */
const isGenuine = (header, rawBody) => {
  const parts = Object.fromEntries(
    (header ?? '').split(',').map((part) => {
      const at = part.indexOf('=')
      return [part.slice(0, at).trim(), part.slice(at + 1).trim()]
    }),
  )
  if (!/^\d+$/.test(parts.t ?? '') || !/^[0-9a-f]{64}$/.test(parts.v1 ?? '')) return false
  if (Math.abs(clock() - Number(parts.t)) > 300) return false
  const expected = createHmac('sha256', secret).update(`${parts.t}.`).update(rawBody).digest()
  return timingSafeEqual(expected, Buffer.from(parts.v1, 'hex'))
}

// In your database, in the transaction that does the work: an Idempotency-Key that is there already is a repeat.
const handled = new Set()
const work = []

const server = createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const rawBody = Buffer.concat(chunks) // the bytes as they came, before anything is parsed
  if (!isGenuine(request.headers['x-service-signature'], rawBody)) return response.writeHead(403).end()

  const key = request.headers['idempotency-key']
  if (!handled.has(key)) {
    handled.add(key)
    work.push(JSON.parse(rawBody.toString())) // do it later: the answer must come within 15 seconds
    console.log(`received ${key}`)
  }
  response.writeHead(200).end(String(work.length))
})
server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => console.log(`listening on ${server.address().port}`))
