import { z } from 'zod'

/** What ends the program with exit code 1, as it is written to the terminal. */
export class Failed extends Error {
  override readonly name = 'Failed'
}

export const say = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

/** The operator's address of an organisation, and the key. */
export type Service = { readonly address: string; readonly operatorKey: string }

const Refusal = z.object({ error: z.object({ message: z.string() }) })

export const send = async ({ address, operatorKey }: Service, path: string, body?: object): Promise<unknown> => {
  const request = fetch(`${address}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const response = await request.catch(() => {
    throw new Failed('The service does not answer. Start it with npm start, or name it with --base-url.')
  })
  const answer: unknown = await response.json()
  if (!response.ok) throw new Failed(Refusal.parse(answer).error.message)
  return answer
}
