import { makeGuardedHttp, type GuardedHttpOptions, type OutboundRequest } from '#infra/guarded-http.ts'

/**
 * Calls of stand-ins on this machine. They have the time that a busy machine needs; only those that no answer will come to are
 * given up at once.
 */
export const outsideHttp = (
  isSilent: (request: OutboundRequest) => boolean,
  options: Partial<GuardedHttpOptions> = {},
) => {
  const http = makeGuardedHttp({ allowedHosts: ['127.0.0.1'], allowHttp: true, timeoutMs: 20_000, ...options })
  return {
    ...http,
    request: (request: OutboundRequest) => http.request(isSilent(request) ? { ...request, timeoutMs: 300 } : request),
  }
}
