import type { ConsumerDescription } from '../consumers/checkpoint.ts'

/** The relay of a topic, as a consumer of the log. */
export const relayOf = (topic: string): ConsumerDescription => ({
  name: `kafka relay ${topic}`,
  version: 1,
  categories: [],
  awaited: false,
})
