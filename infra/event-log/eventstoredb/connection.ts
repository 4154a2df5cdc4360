import { credentials, type ChannelCredentials } from '@grpc/grpc-js'
import { EventStoreDBClient, NotLeaderError } from '@eventstore/db-client'
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import { findLeader, nodesOf, type Node } from './discovery.ts'
import { NoAnswer } from './failures.ts'
import type { Endpoint, Settings } from './settings.ts'

/** The way to one node. Calls go through the newest, until one of them fails. */
export type Channel = {
  readonly node: Promise<Node>
  readonly stub: Promise<StreamsClient>
  /** The time of the last answer to a call. */
  answeredAt: number
}

export type Connection = {
  readonly client: EventStoreDBClient
  readonly channel: () => Channel
  /**
   * Called when a call through a channel failed for a reason that may lie with the connection or with the node. A call
   * that was only too slow, while others had their answers, is no reason to leave it.
   */
  readonly leave: (channel: Channel, error: unknown, begunAt: number) => void
}

/** Longer than any call that was begun on a channel before it was left, but for subscriptions, which may go on. */
const closeAfterMs = 30_000

/**
 * The client, with its choice of a node replaced by ours. The client's own reconnects only after some failures, and a
 * discovery that fails there rejects a promise without a handler, which ends the process.
 */
export const connect = (settings: Settings): Connection => {
  const { tls, user, connectionName } = settings
  const security = tls ? credentials.createSsl(tls.ca, tls.key, tls.cert) : credentials.createInsecure()
  let current: Channel | undefined
  let named: Endpoint | undefined
  let silent: Node | undefined

  const choose = async (): Promise<Node> => {
    const next = named
    named = undefined
    if (next) return next
    const nodes = await nodesOf(settings)
    const [only] = nodes
    if (only && nodes.length === 1 && !settings.isDnsName) return only
    const leader = await findLeader(nodes, security, silent)
    silent = undefined
    return leader
  }

  const open = (): Channel => {
    const node = choose()
    const stub = node.then((chosen) => openStub(chosen, security, settings))
    // Each call that needs the stub handles its failure.
    stub.catch(() => undefined)
    const channel = { node, stub, answeredAt: 0 }
    current = channel
    return channel
  }
  const channel = () => current ?? open()

  const leave = (left: Channel, error: unknown, begunAt: number) => {
    if (left !== current || (isDeadline(error) && left.answeredAt > begunAt)) return
    current = undefined
    if (error instanceof NotLeaderError) named = error.leader
    left.node.then(
      (node) => {
        if (isDeadline(error)) silent = node
      },
      () => undefined,
    )
    // Not at once: the client may be about to use the stub, and a call on a closed one throws an error that cannot be caught.
    left.stub.then(
      (stub) => setTimeout(() => stub.close(), closeAfterMs).unref(),
      () => undefined,
    )
  }

  const client = new EventStoreDBClient(
    { endpoint: { address: 'chosen by ourselves', port: 0 }, ...(connectionName !== undefined && { connectionName }) },
    { insecure: !tls },
    tls && user,
  )
  Object.assign(client, {
    getGRPCClient: () => channel().stub,
    handleError: () => Promise.resolve(),
    // Without batch appends: all clients of a process share one list of those under way, so that a connection that breaks
    // fails the appends of every client, and an answer to one of these then ends the process.
    supports: () => Promise.resolve(false),
  })
  return { client, channel, leave }
}

const isDeadline = (error: unknown) =>
  error instanceof NoAnswer || (error instanceof Error && 'code' in error && error.code === 4)

const openStub = ({ address, port, serverName }: Node, security: ChannelCredentials, { keepAlive }: Settings) =>
  new StreamsClient(`${address}:${port}`, security, {
    // A new channel is a new connection, not a shared older one that may be broken.
    'grpc.use_local_subchannel_pool': 1,
    'grpc.keepalive_time_ms': keepAlive.intervalMs,
    'grpc.keepalive_timeout_ms': keepAlive.timeoutMs,
    // An event has 16 MiB at most.
    'grpc.max_receive_message_length': 17 * 1024 * 1024,
    ...(serverName !== undefined && {
      'grpc.ssl_target_name_override': serverName,
      'grpc.default_authority': serverName,
    }),
  })
