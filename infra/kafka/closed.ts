import type { Base } from '@platformatic/kafka'
import { settlesWithin } from '../timeout.ts'

const closeMs = 2_000

/** Closes a client, at the latest after some seconds: one that leaves its group would otherwise wait for brokers that are away. */
export const closed = async (client: Pick<Base, 'close' | 'connections'>): Promise<void> => {
  await settlesWithin(client.close(), closeMs)
  await settlesWithin(client.connections.close(), closeMs)
}
