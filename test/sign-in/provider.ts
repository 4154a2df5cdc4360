import { createServer } from 'node:http'
import { exportJWK, generateKeyPair, decodeJwt, SignJWT, importJWK } from 'jose'
import { Provider } from 'oidc-provider'
import type { makeBrowser } from './browser.ts'

export type Claims = Readonly<Record<string, unknown>>

/** A provider of OpenID Connect, on a port of its own, whose people sign in as soon as they are asked. */
export const startProvider = async (callback: string) => {
  const people = new Map<string, Claims>()
  let signedIn = ''
  /** Claims of the next ID tokens that are otherwise than they should be. */
  let wrong: Claims = {}

  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const key = { ...(await exportJWK(privateKey)), kid: 'one', alg: 'RS256', use: 'sig' }
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const issuer = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`

  const provider = new Provider(issuer, {
    clients: [
      { client_id: 'coverstream', client_secret: 'the secret of the client', redirect_uris: [`${callback}/any`] },
    ],
    claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'] },
    cookies: { keys: ['a key of the tests'] },
    features: { devInteractions: { enabled: false } },
    jwks: { keys: [key] },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, ...people.get(id) }) }),
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    loadExistingGrant: async ({ oidc }) => {
      const grant = new provider.Grant({
        clientId: oidc.client?.clientId ?? '',
        accountId: oidc.session?.accountId ?? '',
      })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  })
  // Each of our providers has an address of its own below it.
  provider.Client.prototype.redirectUriAllowed = (address: string) => address.startsWith(`${callback}/`)
  provider.use(async (context, next) => {
    await next()
    const body: unknown = context.body
    if (context.path !== '/token' || typeof body !== 'object' || body === null || !('id_token' in body)) return
    const claims = { ...decodeJwt(String(body.id_token)), ...wrong }
    const signing = await importJWK(key)
    context.body = {
      ...body,
      id_token: await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(signing),
    }
  })
  const answer = provider.callback()
  server.on('request', (request, response) => {
    if (request.url?.startsWith('/interaction/') === true)
      void provider.interactionFinished(request, response, { login: { accountId: signedIn } })
    else void answer(request, response)
  })

  /** Follows a browser from the address at the provider to that at which it comes back. */
  const visit = async (url: string): Promise<string> => {
    const cookies = new Map<string, string>()
    let next = url
    for (let step = 0; step < 8; step++) {
      const response = await fetch(next, {
        redirect: 'manual',
        headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      })
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        cookies.set(name, value)
      }
      const location = response.headers.get('location')
      if (location === null) throw new Error(`${next}: ${response.status} ${await response.text()}`)
      next = new URL(location, next).href
      if (next.startsWith(callback)) return next.slice(new URL(callback).origin.length)
    }
    throw new Error('The provider sends the browser round and round.')
  }

  return {
    issuer,
    people,
    /** Somebody is signed in as soon as a browser comes. */
    signIn: (person: string): void => {
      signedIn = person
    },
    /** The address at which the browser of somebody comes back, and with which they have not yet signed in. */
    comeBack: async (
      browser: ReturnType<typeof makeBrowser>,
      provider_id: string,
      person: string,
      more: { readonly opens?: string; readonly invitation?: string } = {},
    ): Promise<string> => {
      const begun = await browser.ask('POST', '/admin/v1/session/provider', { provider_id, ...more })
      if (begun.status !== 200) throw new Error(JSON.stringify(begun.body))
      signedIn = person
      return visit(String(begun.body.data['url']))
    },
    saying: async <Result>(otherwise: Claims, work: () => Promise<Result>): Promise<Result> => {
      wrong = otherwise
      try {
        return await work()
      } finally {
        wrong = {}
      }
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
