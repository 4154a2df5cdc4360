import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { stripTypeScriptTypes } from 'node:module'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { z } from 'zod'

export type SalesPageOptions = {
  readonly port: number
  /** The address of the service. */
  readonly origin: string
  /** The `BASE_URL` that the service was started with, which tokens are for. */
  readonly baseUrl: string
  /** The stand-in for the payment provider, on whose own forms cards and bank details are typed; undefined: there is none. */
  readonly provider: string | undefined
  /** A browser application of the firm. Its secret stays on this server. */
  readonly client: { readonly client_id: string; readonly client_secret: string }
}

export type SalesPage = { readonly url: string; readonly close: () => Promise<void> }

const Token = z.object({ access_token: z.string(), expires_in: z.number() })

const pages = join(import.meta.dirname, 'page')
const addresses = /^\/([a-z-]+\.(?:ts|css|svg))$/
const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.ts': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The requests that a browser would send to the payment provider itself. */
const providersForm = /^\/stand-in\/(payment_intents\/\w+\/confirm|checkout\/sessions\/\w+\/complete)$/
const mostBytes = 1_000

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) {
    text += String(chunk)
    if (text.length > mostBytes) throw new Error('More was sent than the form has.')
  }
  return text
}

/**
 * The web server of a firm, as small as it can be: it serves the page, and hands every visitor an access token. One token
 * serves all visitors until shortly before it ends.
 */
export const startSalesPage = async ({
  port,
  origin,
  baseUrl,
  provider,
  client,
}: SalesPageOptions): Promise<SalesPage> => {
  let held: { readonly access_token: string; readonly until: number } | undefined

  /** The token, or after how many seconds it can be asked for again. */
  const token = async (): Promise<string | { readonly retryAfter: string }> => {
    if (held && Date.now() < held.until) return held.access_token
    const body = { grant_type: 'client_credentials', ...client, scope: 'read write', resource: `${baseUrl}/api/v1` }
    const response = await fetch(`${origin}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams(body),
      signal: AbortSignal.timeout(10_000),
    })
    if (response.status === 429) return { retryAfter: response.headers.get('retry-after') ?? '60' }
    const { access_token, expires_in } = Token.parse(await response.json())
    held = { access_token, until: Date.now() + (expires_in - 60) * 1_000 }
    return access_token
  }

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    if (request.method === 'POST' && pathname === '/token') {
      // Whoever holds a token that was revoked asks for another.
      if (request.headers['x-refused'] === held?.access_token) held = undefined
      const access_token = await token()
      if (typeof access_token !== 'string') {
        response.writeHead(429, { 'Retry-After': access_token.retryAfter }).end()
        return
      }
      const body = JSON.stringify({ access_token, api: baseUrl })
      response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }).end(body)
      return
    }
    if (provider !== undefined && request.method === 'POST' && providersForm.test(pathname)) {
      const paid = await fetch(`${provider}${pathname}`, {
        method: 'POST',
        body: new URLSearchParams(await bodyOf(request)),
        signal: AbortSignal.timeout(10_000),
      })
      response.writeHead(paid.status, { 'Cache-Control': 'no-store' }).end()
      return
    }
    const name = pathname === '/' ? 'index.html' : addresses.exec(pathname)?.[1]
    const text = name === undefined ? undefined : await readFile(join(pages, name), 'utf8').catch(() => undefined)
    if (name === undefined || text === undefined) {
      response.writeHead(404).end()
      return
    }
    const headers = {
      'Content-Type': contentTypes[extname(name)],
      'Cache-Control': 'no-cache',
      'Content-Security-Policy': `default-src 'self'; connect-src 'self' ${baseUrl}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'strict-origin-when-cross-origin',
    }
    response.writeHead(200, headers).end(name.endsWith('.ts') ? stripTypeScriptTypes(text) : text)
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => {
      if (response.headersSent) response.destroy()
      else response.writeHead(502).end()
    })
  })
  server.listen(port, 'localhost')
  await once(server, 'listening')
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`, // of a TCP server
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
