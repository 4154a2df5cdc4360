import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'

export type Answer = { readonly status: number; readonly body: unknown; readonly answeredBy: number }

type Client = { readonly client_id: string; readonly client_secret: string }

const Token = z.object({ access_token: z.string() })
const patienceMs = 60_000

/**
 * Asks as a careful client does, which repeats what it was told to repeat (503 with `Retry-After`) and nothing else. All other
 * answers that a client cannot go on with are faults.
 */
export const carefulCaller = (origin: string, { client_id, client_secret }: Client, faults: string[]) => {
  let token: string | undefined
  const putOff = new Map<string, number>()

  const ask = async (path: string, request: RequestInit): Promise<Answer> => {
    const deadline = Date.now() + patienceMs
    for (;;) {
      const response = await fetch(origin + path, { ...request, signal: AbortSignal.timeout(20_000) })
      const text = await response.text()
      if (response.status < 500) {
        const answeredBy = Number(response.headers.get('x-answered-by'))
        return { status: response.status, body: text === '' ? undefined : JSON.parse(text), answeredBy }
      }
      if (response.status === 503 && response.headers.has('retry-after')) putOff.set(text, (putOff.get(text) ?? 0) + 1)
      else faults.push(`${request.method ?? 'GET'} ${path} was answered ${response.status}: ${text}`)
      if (Date.now() > deadline) throw new Error(`${path} is not answered for a minute: ${text}`)
      await pause(50 + Math.random() * 100)
    }
  }

  const sign = async (): Promise<string> => {
    const form = { grant_type: 'client_credentials', client_id, client_secret, scope: 'read write crm' }
    const body = new URLSearchParams({ ...form, resource: `${origin}/api/v1` })
    return Token.parse((await ask('/oauth/token', { method: 'POST', body })).body).access_token
  }

  return {
    send: async (method: string, path: string, body?: object): Promise<Answer> => {
      token ??= await sign()
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      return ask(`/api/v1${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    },
    /** How often it was asked to send something again, by what it was told. */
    putOff,
  }
}
export type CarefulCaller = ReturnType<typeof carefulCaller>
