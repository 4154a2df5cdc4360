/** The answer of the API to a request of a page. */
export type Sent =
  | { readonly outcome: 'done'; readonly status: number; readonly data: Readonly<Record<string, unknown>> }
  | {
      readonly outcome: 'refused'
      readonly status: number
      readonly message: string
      readonly fields: Readonly<Record<string, string>>
      /** Beside the refusal: what was done before it. */
      readonly data: Readonly<Record<string, unknown>>
    }
  /** Nobody knows whether it was done. */
  | { readonly outcome: 'no answer' }

type Body = {
  readonly data?: Readonly<Record<string, unknown>>
  readonly error?: { readonly message?: string; readonly fields?: Readonly<Record<string, string>> }
}

const withinMs = 30_000
/** A set-up file has up to eight megabytes, which are planned, or applied, one after the other. */
const withinMsForFiles = 120_000

/** Sends an act to the API of this very address, in the session of this browser. A text is a set-up file. */
export const send = async (method: string, address: string, body?: object | string, key?: string): Promise<Sent> => {
  const isFile = typeof body === 'string'
  try {
    const response = await fetch(address, {
      method,
      headers: {
        'content-type': isFile ? 'application/yaml' : 'application/json',
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      signal: AbortSignal.timeout(isFile ? withinMsForFiles : withinMs),
      ...(body !== undefined && { body: isFile ? body : JSON.stringify(body) }),
    })
    const { data = {}, error } = (await response.json()) as Body // our own API's
    if (response.ok) return { outcome: 'done', status: response.status, data }
    return {
      outcome: 'refused',
      status: response.status,
      message: error?.message ?? 'The service refused this.',
      fields: error?.fields ?? {},
      data,
    }
  } catch {
    return { outcome: 'no answer' }
  }
}

/** Opens the page for signing in, and afterwards this one again. */
export const signInAgain = (): void => {
  location.assign(`/console/sign_in?opens=${encodeURIComponent(location.pathname + location.search)}`)
}
