/** A cookie of ours. */
export type Cookie = {
  /** Its value in a `Cookie` header; undefined where there is none, or several, of which nobody can say which is ours. */
  readonly read: (header: string | undefined) => string | undefined
  /** The `Set-Cookie` that sets it for so long. */
  readonly set: (value: string, seconds: number) => string
  /** The `Set-Cookie` that takes it away. */
  readonly clear: string
}

const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/

export type CookiePlace = { readonly baseUrl: string; readonly isProduction: boolean }

/** `__Host-` and `Secure` bind a cookie to this very host, and to TLS. Only a machine that serves itself is without. */
export const makeCookie = (name: string, { baseUrl, isProduction }: CookiePlace): Cookie => {
  const { protocol, hostname } = new URL(baseUrl)
  const isPlain = !isProduction && protocol === 'http:' && loopback.test(hostname)
  const full = isPlain ? name : `__Host-${name}`
  const flags = `Path=/; HttpOnly; SameSite=Lax${isPlain ? '' : '; Secure'}`
  return {
    read: (header = '') => {
      const values = header.split(';').flatMap((part) => {
        const [key = '', ...value] = part.split('=')
        return key.trim() === full ? [value.join('=').trim()] : []
      })
      return values.length === 1 ? values[0] : undefined
    },
    set: (value, seconds) => `${full}=${value}; Max-Age=${seconds}; ${flags}`,
    clear: `${full}=; Max-Age=0; ${flags}`,
  }
}
