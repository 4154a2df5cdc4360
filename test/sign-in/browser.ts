import type { Answer, wholeService } from '../whole-service.ts'

type Service = Awaited<ReturnType<typeof wholeService>>

let browsers = 0

/** An address that no other browser of the tests has: attempts to sign in are counted by address. */
const nextAddress = (): string => {
  browsers++
  return `192.0.${2 + Math.floor(browsers / 250)}.${1 + (browsers % 250)}`
}

/** The cookies that a browser keeps, and the requests of a page of the service in it. */
export const makeBrowser = (service: Service, address = nextAddress()) => {
  const jar = new Map<string, string>()
  const cookie = () => [...jar].map(([name, value]) => `${name}=${value}`).join('; ')

  const keep = (headers: Headers): void => {
    for (const line of headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (line.includes('Max-Age=0')) jar.delete(name)
      else jar.set(name, value)
    }
  }

  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    at: Service = service,
  ) => {
    const response = await fetch(path.startsWith('http') ? path : `${at.origin}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        cookie: cookie(),
        'x-forwarded-for': address,
        ...(method !== 'GET' && { origin: service.baseUrl, 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    keep(response.headers)
    const text = await response.text()
    // The tests look at what they need of it.
    const answer = (text === '' ? {} : JSON.parse(text)) as Answer<Record<string, unknown>>['body']
    return { status: response.status, headers: response.headers, body: answer }
  }

  return {
    jar,
    ask,
    get: async (path: string, at?: Service) => (await ask('GET', path, undefined, {}, at)).status,
    signIn: async (key: string) => ask('POST', '/admin/v1/session', { key }),
  }
}
