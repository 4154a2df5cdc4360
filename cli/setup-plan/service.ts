import { z } from 'zod'

/** The running service that a set-up file is for, and a key of its team. */
export type Service = { readonly baseUrl: string; readonly operatorKey: string }

/** Ends the program with exit code 1; the message is as it is written to the terminal. */
export class Failed extends Error {
  override readonly name: string = 'Failed'
}

/** The service has refused a request as a whole. */
export class Refused extends Failed {
  override readonly name = 'Refused'
}

const Refusal = z.object({
  error: z.object({ message: z.string(), fields: z.record(z.string(), z.string()).default({}) }),
  data: z.unknown().optional(),
})

type Sent = { readonly method: 'GET' } | { readonly method: 'POST'; readonly body: string }

/** The answer to a request, which has succeeded. `told` says which lines of a file its faults are about. */
export const ask = async (
  { baseUrl, operatorKey }: Service,
  address: string,
  sent: Sent,
  told: (fields: Readonly<Record<string, string>>) => readonly string[] = (fields) =>
    Object.entries(fields).map(([input, reason]) => `${input}: ${reason}`),
): Promise<Response> => {
  const request = fetch(`${baseUrl}/admin/v1/${address}`, {
    headers: {
      authorization: `Bearer ${operatorKey}`,
      ...(sent.method === 'POST' && { 'content-type': 'application/yaml' }),
    },
    ...sent,
  })
  const response = await request.catch(() => {
    throw new Failed(`The service does not answer at ${baseUrl}. Start it with npm start, or name it with --base-url.`)
  })
  if (response.ok) return response
  const { error, data } = Refusal.parse(await jsonOf(response, baseUrl))
  const hints: Readonly<Record<number, string>> = {
    401: `The key of --operator-key, OPERATOR_KEY or DATA_DIR is not one of the service at ${baseUrl}.`,
    404: `The address was ${baseUrl}: name it as callers use it, without /api/v1.`,
  }
  const said = [...told(error.fields), error.message, ...[hints[response.status] ?? []].flat()].join('\n')
  // What was done before a fault is told beside it.
  throw response.status < 500 && data === undefined ? new Refused(said) : new Failed(said)
}

export const jsonOf = async (response: Response, baseUrl: string): Promise<unknown> => {
  try {
    return await response.json()
  } catch {
    throw new Failed(`What answers at ${baseUrl} is not this service. Name its address with --base-url.`)
  }
}
