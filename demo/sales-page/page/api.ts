/** The firm's own server gives every visitor a token; the share token says that the application is this visitor's. */
type Access = { readonly api: string; readonly access_token: string }

type Sent = {
  readonly body?: object
  /** The token of the application that the request is about. */
  readonly shareToken?: string | undefined
}

/** The API has refused a request, and says why and which inputs are concerned. */
export class Refused extends Error {
  readonly code: string
  readonly fields: Readonly<Record<string, string>>
  constructor(code: string, message: string, fields: Readonly<Record<string, string>>) {
    super(message)
    this.code = code
    this.fields = fields
  }
}

type Refusal = {
  readonly error: {
    readonly code: string
    readonly message: string
    readonly fields?: Readonly<Record<string, string>>
  }
}

const askForAccess = async (refused = ''): Promise<Access> => {
  const response = await fetch('/token', { method: 'POST', headers: refused === '' ? {} : { 'X-Refused': refused } })
  if (response.status === 429) throw tooMany(response)
  if (!response.ok) throw new Refused('unavailable', 'We cannot give you a price at the moment. Please try again.', {})
  return (await response.json()) as Access // of our own server
}

/** More requests came from the visitor's address than are served: the answer says in how many seconds to go on. */
const tooMany = (response: Response): Refused => {
  const minutes = Math.ceil(Number(response.headers.get('Retry-After') ?? 60) / 60)
  const wait = minutes === 1 ? 'a minute' : `${minutes} minutes`
  return new Refused('rate_limited', `Too many requests came from your connection. Please try again in ${wait}.`, {})
}

const deadlineMs = 20_000

/** The API, as a browser application calls it. */
export const openApi = async () => {
  let access = await askForAccess()

  const request = async (method: string, path: string, { body, shareToken }: Sent): Promise<Response> => {
    const ask = () =>
      fetch(path.startsWith('http') ? path : `${access.api}/api/v1${path}`, {
        method,
        headers: {
          Authorization: `Bearer ${access.access_token}`,
          ...(body && { 'Content-Type': 'application/json' }),
          ...(shareToken !== undefined && { 'X-Share-Token': shareToken }),
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(deadlineMs),
      })
    const response = await ask()
    if (response.status !== 401) return response
    // The token has ended, or was revoked: the next one is good.
    access = await askForAccess(access.access_token)
    return ask()
  }

  const refusedBy = async (response: Response): Promise<Refused> => {
    if (response.status === 429) return tooMany(response)
    // The API's own words are for engineers.
    if (response.status === 503)
      return new Refused('unavailable', 'We could not do this at the moment. Please try again.', {})
    const answered = (await response.json().catch(() => undefined)) as Refusal | undefined
    const {
      code = 'unavailable',
      message = 'Something went wrong. Please try again.',
      fields = {},
    } = answered?.error ?? {}
    return new Refused(code, message, fields)
  }

  return {
    /** The `data` of the answer. Throws `Refused`. */
    send: async <Data>(method: string, path: string, sent: Sent = {}): Promise<Data> => {
      const response = await request(method, path, sent)
      if (!response.ok) throw await refusedBy(response)
      return ((await response.json()) as { readonly data: Data }).data
    },
    /** A document, as an address that the browser can open. */
    file: async (address: string, shareToken: string): Promise<string> => {
      const response = await request('GET', address, { shareToken })
      if (!response.ok) throw await refusedBy(response)
      return URL.createObjectURL(await response.blob())
    },
  }
}

export type Api = Awaited<ReturnType<typeof openApi>>
