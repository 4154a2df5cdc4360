import type { GuardedHttp, OutboundRequest } from './guarded-http.ts'
import { isNestedTooDeep } from './http/nesting.ts'

export type JsonAnswer = { readonly status: number; readonly body: unknown }

/** An outside party's answer, as JSON; undefined when it could not be reached in time or answered something else. */
export const askJson = async (
  http: Pick<GuardedHttp, 'request'>,
  request: OutboundRequest,
): Promise<JsonAnswer | undefined> => {
  const exchange = await http.request(request)
  if (exchange.outcome !== 'answered' || isNestedTooDeep(exchange.body)) return undefined
  try {
    return { status: exchange.status, body: JSON.parse(exchange.body.toString()) as unknown }
  } catch {
    return undefined
  }
}

/** An account with an outside party, its secret opened. */
export type OpenedAccount = { readonly base_url: string; readonly account: string | null; readonly secret: string }
