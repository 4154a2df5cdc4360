import { z } from 'zod'

const base = 'https://own.invalid'

/** True for a path that no browser reads another host, or a scheme, in: of what a header can hold, and no backslash. */
const isOwn = (path: string): boolean => {
  if (!/^\/(?!\/)[!-[\]-~]*$/.test(path)) return false
  const url = URL.parse(path, base)
  return url?.origin === base && !url.pathname.startsWith('//')
}

/** An address of the service itself, to be opened after a sign-in. */
export const OwnPath = z.string().max(2_000).refine(isOwn, 'must be a path of this service, beginning with one /')
