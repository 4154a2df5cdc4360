import { z } from 'zod'

/** True for a path that no browser reads another host, or a scheme, in. */
const isOwn = (path: string): boolean => /^\/(?![/\\])[^\\\p{Cc}\s]*$/u.test(path)

/** An address of the service itself, to be opened after a sign-in. */
export const OwnPath = z.string().max(2_000).refine(isOwn, 'must be a path of this service, beginning with one /')
