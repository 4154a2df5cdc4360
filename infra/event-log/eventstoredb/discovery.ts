import { lookup } from 'node:dns/promises'
import { Metadata, type ChannelCredentials } from '@grpc/grpc-js'
import { GossipClient } from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import gossip from '@eventstore/db-client/generated/gossip_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import { withTimeout } from '../../timeout.ts'
import { NoAnswer } from './failures.ts'
import type { Endpoint, Settings } from './settings.ts'

/** `serverName` is what the certificate must be good for, when it is not the address. */
export type Node = Endpoint & { readonly serverName?: string }

const gossipMs = 500
const lookupMs = 1_000

/** The servers that the connection string names. Behind a DNS name are all nodes, of which any may not answer. */
export const nodesOf = async ({
  hosts,
  isDnsName,
}: Pick<Settings, 'hosts' | 'isDnsName'>): Promise<readonly Node[]> => {
  const [name] = hosts
  if (!isDnsName || !name) return hosts
  const found = await withTimeout(lookup(name.address, { all: true }), lookupMs).catch((error: unknown) => {
    throw new NoAnswer(`${name.address} cannot be looked up`, { cause: error })
  })
  return found.map(({ address, family }) => ({
    address: family === 6 ? `[${address}]` : address,
    port: name.port,
    serverName: name.address,
  }))
}

/**
 * Asks all nodes at once and takes the first answer that names a leader. One that was silent before must answer for itself:
 * the others name it until they have elected another.
 */
export const findLeader = async (
  nodes: readonly Node[],
  security: ChannelCredentials,
  silent: Endpoint | undefined,
): Promise<Node> => {
  const ask = async (node: Node): Promise<Node> => {
    const leader = await leaderAsSeenBy(node, security)
    const wasSilent = leader.address === silent?.address && leader.port === silent.port
    return wasSilent ? leaderAsSeenBy(leader, security) : leader
  }
  try {
    return await Promise.any(nodes.map(ask))
  } catch (error) {
    const reasons = error instanceof AggregateError ? error.errors.map((each: unknown) => messageOf(each)) : []
    throw new NoAnswer(`no leader was found: ${[...new Set(reasons)].join('; ')}`, { cause: error })
  }
}

const leaderAsSeenBy = (node: Node, security: ChannelCredentials): Promise<Endpoint> => {
  const { address, port, serverName } = node
  const client = new GossipClient(`${address}:${port}`, security, {
    'grpc.use_local_subchannel_pool': 1,
    ...(serverName !== undefined && {
      'grpc.ssl_target_name_override': serverName,
      'grpc.default_authority': serverName,
    }),
  })
  return new Promise((resolve, reject) => {
    const deadline = Date.now() + gossipMs
    client.read(new shared.Empty(), new Metadata(), { deadline }, (error, info) => {
      client.close()
      if (error) return reject(new NoAnswer(`${nameOf(node)}: ${error.message}`, { cause: error }))
      const leader = info
        .getMembersList()
        .find((member) => member.getIsAlive() && member.getState() === gossip.MemberInfo.VNodeState.LEADER)
        ?.getHttpEndPoint()
      if (!leader) return reject(new NoAnswer(`${nameOf(node)} knows no leader`))
      resolve({ address: leader.getAddress(), port: leader.getPort() })
    })
  })
}

export const nameOf = ({ address, port }: Endpoint) => `${address}:${port}`

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
