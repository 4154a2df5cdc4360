import { notLeader, notReady } from './behaviour.ts'
import { makeDatabase } from './database.ts'
import type { Member } from './gossip.ts'
import { startEventStoreDb, type TestServer } from './server.ts'

/** Three nodes over one database, of which the first is the leader, until another is elected or none. */
export const startCluster = async () => {
  const database = makeDatabase({ systemEvents: true, positionsOfRepeats: true })
  const nodes: TestServer[] = []
  let leader: number | undefined = 0
  const members = (): readonly Member[] =>
    nodes.map(({ port }, index) => ({ address: '127.0.0.1', port, isLeader: index === leader }))
  for (let index = 0; index < 3; index += 1) {
    const node = await startEventStoreDb({ database, members })
    node.gate((metadata) => {
      if (leader === index) return undefined
      if (leader === undefined) return notReady
      const requiresLeader = metadata.get('requires-leader')[0] === 'true'
      return requiresLeader ? notLeader({ address: '127.0.0.1', port: nodes[leader]?.port ?? 0 }) : undefined
    })
    nodes.push(node)
  }

  return {
    url: `esdb://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}?tls=false`,
    nodes,
    /** What all nodes say from now on. Undefined when there is no quorum. */
    elect: (index: number | undefined) => void (leader = index),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()))
    },
  }
}
