import { generateKeyPairSync, sign } from 'node:crypto'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { readHead, type LogHead } from '#infra/audit-tree/checkpoint-text.ts'
import { isConsistent } from '#infra/audit-tree/merkle.ts'
import {
  bytesOfPublicKey,
  cosignature,
  openNote,
  verifierOf,
  verifierText,
  type Verifier,
} from '#infra/audit-tree/signed-note.ts'

type Answer = { readonly status: number; readonly body: string }

/** A witness of somebody else, as the protocol describes it: it cosigns what follows from what it has cosigned before. */
export const startWitness = async (keyOf: (origin: string) => Verifier) => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const own = verifierOf('witness.test', bytesOfPublicKey(publicKey), cosignature)
  const seen = new Map<string, LogHead>()
  const behaviour: { answer: Answer | undefined } = { answer: undefined }
  let asked = 0

  const answer = (body: string): Answer => {
    const [first = '', ...rest] = body.split('\n')
    const end = rest.indexOf('')
    const note = rest.slice(end + 1).join('\n')
    const proof = rest.slice(0, end).map((line) => Buffer.from(line, 'base64'))
    const former = Number(/^old (\d+)$/.exec(first)?.[1] ?? Number.NaN)
    const head = readHead(`${note.split('\n\n')[0] ?? ''}\n`)
    if (!head || Number.isNaN(former)) return { status: 400, body: '' }
    if (!openNote(note, [keyOf(head.origin)])) return { status: 403, body: '' }
    const known = seen.get(head.origin)
    if (former > head.size) return { status: 400, body: '' }
    if (former !== (known?.size ?? 0)) return { status: 409, body: `${known?.size ?? 0}\n` }
    if (known && !isConsistent(known, head, proof)) return { status: 422, body: '' }
    seen.set(head.origin, head)
    const time = Buffer.alloc(8)
    const seconds = BigInt(Math.floor(Date.now() / 1_000))
    time.writeBigUInt64BE(seconds)
    const signed = `cosignature/v1\ntime ${seconds}\n${head.origin}\n${head.size}\n${head.root.toString('base64')}\n`
    const bytes = Buffer.concat([Buffer.from(own.id, 'hex'), time, sign(null, Buffer.from(signed), privateKey)])
    return { status: 200, body: `— ${own.name} ${bytes.toString('base64')}\n` }
  }

  const server = createServer((request, response) => {
    void text(request).then((body) => {
      asked++
      const given = behaviour.answer ?? (request.url === '/add-checkpoint' ? answer(body) : { status: 404, body: '' })
      response.writeHead(given.status, { 'content-type': 'text/x.tlog.size' }).end(given.body)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port

  return {
    verifier: own,
    setting: `http://127.0.0.1:${port}/ ${verifierText(own)}`,
    seen,
    asked: () => asked,
    /** Every request is answered so; undefined: as it should be. */
    answerAll: (given: Answer | undefined): void => void (behaviour.answer = given),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
