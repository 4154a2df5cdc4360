import { Agent } from 'undici'

// The floor of deliveries: a bare loop of POSTs with a body of the same length. Says how many a second.
const [, , url = '', seconds = '1', concurrency = '32'] = process.argv
const { origin, pathname } = new URL(url)
const agent = new Agent({ connections: Number(concurrency) })
const body = JSON.stringify({ type: 'webhook.ping', payload: { note: 'x'.repeat(1_500) } })
const deadline = performance.now() + Number(seconds) * 1_000
let count = 0
const post = async () => {
  while (performance.now() < deadline) {
    const answer = await agent.request({
      origin,
      path: pathname,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    await answer.body.dump()
    count++
  }
}
await Promise.all(Array.from({ length: Number(concurrency) }, post))
await agent.destroy()
process.stdout.write(`${count / Number(seconds)} a second\n`)
