import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import type { Installation } from './installations.ts'
import type { Asked } from './outcome-checks.ts'

const Demo = z.object({
  organisations: z.tuple([
    z.object({
      id: z.uuid(),
      slug: z.string(),
      name: z.string(),
      endpoint_connections: z.tuple([z.looseObject({ name: z.string() })]),
      lifecycle_actions: z.array(z.object({ event_types: z.array(z.string()) })),
    }),
  ]),
})

const demoFile = join(import.meta.dirname, '..', '..', 'demo', 'organisation.yaml')

const readDemo = async () => Demo.parse(parse(await readFile(demoFile, 'utf8'))).organisations[0]

const another = 'quote.accepted'

const published: Readonly<Record<string, string>> = {
  ApplicationStarted: 'application.started',
  QuoteIssued: 'quote.issued',
  QuoteAccepted: 'quote.accepted',
}

/** Sends the demo's webhooks to this address, those of acceptances by two actions. Which events lead to how many. */
export const directWebhooksTo = async (
  url: string,
  { origin, operatorKey }: Pick<Installation, 'origin' | 'operatorKey'>,
): Promise<Asked> => {
  const { endpoint_connections, lifecycle_actions, ...organisation } = await readDemo()
  const connection = { ...endpoint_connections[0], base_url: url }
  const action = { name: 'Tell of acceptances again', endpoint_connection: connection.name, event_types: [another] }
  const declared = { ...organisation, endpoint_connections: [connection], lifecycle_actions: [action] }
  const response = await fetch(`${origin}/admin/v1/setup?apply=true`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/yaml' },
    body: stringify({ organisations: [declared] }),
  })
  if (!response.ok) throw new Error(`The webhooks could not be directed here: ${await response.text()}`)

  const actions = [...lifecycle_actions, action]
  return Object.fromEntries(
    Object.entries(published).map(([event, type]) => [
      event,
      { type, actions: actions.filter(({ event_types }) => event_types.includes(type)).length },
    ]),
  )
}
