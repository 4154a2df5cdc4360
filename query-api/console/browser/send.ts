/** The answer of the API to a request of a page. */
export type Sent =
  | { readonly outcome: 'done'; readonly status: number; readonly data: Readonly<Record<string, unknown>> }
  | {
      readonly outcome: 'refused'
      readonly status: number
      readonly message: string
      readonly fields: Readonly<Record<string, string>>
    }
  /** Nobody knows whether it was done. */
  | { readonly outcome: 'no answer' }

type Body = {
  readonly data?: Readonly<Record<string, unknown>>
  readonly error?: { readonly message?: string; readonly fields?: Readonly<Record<string, string>> }
}

const withinMs = 30_000

/** Sends an act to the API of this very address, in the session of this browser. */
export const send = async (method: string, address: string, body?: object, key?: string): Promise<Sent> => {
  try {
    const response = await fetch(address, {
      method,
      headers: { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) },
      signal: AbortSignal.timeout(withinMs),
      ...(body && { body: JSON.stringify(body) }),
    })
    const { data = {}, error } = (await response.json()) as Body // our own API's
    if (response.ok) return { outcome: 'done', status: response.status, data }
    return {
      outcome: 'refused',
      status: response.status,
      message: error?.message ?? 'The service refused this.',
      fields: error?.fields ?? {},
    }
  } catch {
    return { outcome: 'no answer' }
  }
}

/** Opens the page for signing in, and afterwards this one again. */
export const signInAgain = (): void => {
  location.assign(`/console/sign_in?opens=${encodeURIComponent(location.pathname + location.search)}`)
}
