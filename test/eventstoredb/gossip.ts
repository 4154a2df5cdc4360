import type { handleUnaryCall } from '@grpc/grpc-js'
import gossip from '@eventstore/db-client/generated/gossip_pb.js'
import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js'
import type { Empty } from '@eventstore/db-client/generated/shared_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import type { Address } from './behaviour.ts'

export type Member = Address & { readonly isLeader: boolean }

const { LEADER, UNKNOWN, FOLLOWER } = gossip.MemberInfo.VNodeState

/** What a node answers about its cluster. Without a leader all nodes are looking for one. */
export const gossiping =
  (members: () => readonly Member[], asked: () => void): handleUnaryCall<Empty, ClusterInfo> =>
  (_call, answer) => {
    asked()
    const hasLeader = members().some(({ isLeader }) => isLeader)
    const list = members().map(({ address, port, isLeader }) =>
      new gossip.MemberInfo()
        .setInstanceId(new shared.UUID().setString(crypto.randomUUID()))
        .setState(isLeader ? LEADER : hasLeader ? FOLLOWER : UNKNOWN)
        .setIsAlive(true)
        .setHttpEndPoint(new gossip.EndPoint().setAddress(address).setPort(port)),
    )
    answer(null, new gossip.ClusterInfo().setMembersList(list))
  }
