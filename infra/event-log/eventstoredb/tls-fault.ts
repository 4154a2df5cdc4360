import { connect as connectHttp2 } from 'node:http2'
import { isIP } from 'node:net'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import { isCertificateFault, type TlsFiles } from '../../certificates.ts'
import { nameOf, nodesOf, type Node } from './discovery.ts'
import type { Settings } from './settings.ts'

const withinMs = 1_000

/**
 * Says what about TLS does not fit between the settings and the servers. The failure of a call does not: it looks like a
 * lost connection. Undefined when everything fits, and when no server answers.
 */
export const tlsFault = async (settings: Settings): Promise<string | undefined> => {
  const nodes = await nodesOf(settings).catch(() => [])
  const faults = await Promise.all(nodes.map((node) => faultOf(node, settings.tls)))
  return faults.find((fault) => fault !== undefined)
}

const faultOf = async (node: Node, tls: TlsFiles | undefined): Promise<string | undefined> => {
  if (!tls) {
    const isTls = (await handshake(node, { rejectUnauthorized: false })) === 'done'
    return isTls ? `${nameOf(node)} requires TLS: leave tls=false out` : undefined
  }
  const outcome = await handshake(node, tls)
  if (outcome === 'done' || outcome === 'no answer') return undefined
  if (isCertificateFault(outcome.code))
    return `the certificate of ${nameOf(node)} does not fit (${outcome.message}): check tlsCAFile and the host`
  const isPlain = await speaksPlainHttp2(node)
  return isPlain ? `${nameOf(node)} does not speak TLS: set tls=false, or switch TLS on there` : undefined
}

const hostOf = ({ address }: Node) => address.replaceAll(/[[\]]/g, '')

const handshake = (node: Node, options: ConnectionOptions) =>
  new Promise<'done' | 'no answer' | { readonly code: string; readonly message: string }>((resolve) => {
    const name = node.serverName ?? hostOf(node)
    const socket = connectTls({
      host: hostOf(node),
      port: node.port,
      ALPNProtocols: ['h2'],
      ...(isIP(name) === 0 && { servername: name }),
      ...options,
    })
    const end = (outcome: Parameters<typeof resolve>[0]) => {
      socket.destroy()
      resolve(outcome)
    }
    socket.setTimeout(withinMs, () => end('no answer'))
    socket.on('secureConnect', () => end('done'))
    socket.on('error', (error: NodeJS.ErrnoException) => end({ code: error.code ?? '', message: error.message }))
  })

const speaksPlainHttp2 = (node: Node) =>
  new Promise<boolean>((resolve) => {
    const session = connectHttp2(`http://${nameOf(node)}`)
    const end = (speaks: boolean) => {
      session.destroy()
      resolve(speaks)
    }
    session.setTimeout(withinMs, () => end(false))
    session.on('remoteSettings', () => end(true))
    session.on('error', () => end(false))
    session.on('close', () => end(false))
  })
