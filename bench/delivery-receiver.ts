import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// A receiver in a process of its own: it counts what is posted, never answers at /hang, at /after/100 after so many
// milliseconds, and says the count at GET.
let count = 0
const server = createServer((request, response) => {
  if (request.method === 'GET') return response.end(String(count))
  if (request.url === '/hang') return request.resume()
  const answer = () => {
    count++
    response.end()
  }
  const [, afterMs] = /^\/after\/(\d+)$/.exec(request.url ?? '') ?? []
  return request.resume().on('end', () => (afterMs === undefined ? answer() : setTimeout(answer, Number(afterMs))))
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo // of a TCP server
  process.stdout.write(`receives at ${port}\n`)
})
