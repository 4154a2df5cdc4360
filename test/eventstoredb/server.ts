import { readFileSync } from 'node:fs'
import {
  Server,
  ServerCredentials,
  type handleClientStreamingCall,
  type handleServerStreamingCall,
  type sendUnaryData,
} from '@grpc/grpc-js'
import features from '@eventstore/db-client/generated/serverfeatures_pb.js'
import { GossipService } from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import { ServerFeaturesService } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import { appending, batchAppending, type Fault } from './appending.ts'
import { isUser, unauthenticated, type Behaviour, type Refusal, type User } from './behaviour.ts'
import { makeDatabase, type Database, type DatabaseOptions } from './database.ts'
import { gossiping, type Member } from './gossip.ts'
import { severableWayTo } from './proxy.ts'
import { reading } from './reading.ts'

type Options = Partial<DatabaseOptions> & {
  readonly maxAppendSize?: number
  /** Shared by the nodes of a cluster. */
  readonly database?: Database
  /** Speaks TLS with this certificate of `certificates/`. */
  readonly certificate?: 'server' | 'elsewhere'
  /** The only user that is let in. */
  readonly user?: User
  readonly members?: () => readonly Member[]
}

export const certificatePath = (name: string) => new URL(`certificates/${name}`, import.meta.url).pathname

/** The part of EventStoreDB 24.10 that our adapter speaks with, in memory, on a free port. */
export const startEventStoreDb = async ({
  maxAppendSize = 1_048_576,
  database: shared,
  certificate,
  user,
  members = () => [],
  ...options
}: Options = {}) => {
  const database = shared ?? makeDatabase({ systemEvents: true, positionsOfRepeats: true, ...options })
  const faults: Fault[] = []
  const behaviour: Behaviour = {
    gate: () => undefined,
    user,
    subscriptions: new Set(),
    messagesSent: 0,
    appends: 0,
    gossips: 0,
  }
  const refusalOf: Behaviour['gate'] = (metadata) =>
    user && !isUser(metadata, user) ? unauthenticated : behaviour.gate(metadata)
  const server = new Server({ 'grpc.max_receive_message_length': 17 * 1024 * 1024 })
  server.addService(StreamsService, {
    append: guardedAppend(refusalOf, appending(database, maxAppendSize, faults), behaviour),
    batchAppend: batchAppending(database, maxAppendSize),
    read: guardedRead(refusalOf, reading(database, behaviour)),
  })
  server.addService(ServerFeaturesService, { getSupportedMethods })
  server.addService(GossipService, { read: gossiping(members, () => (behaviour.gossips += 1)) })

  const { promise: bound, resolve, reject } = Promise.withResolvers<number>()
  const listening = (error: Error | null, port: number) => (error ? reject(error) : resolve(port))
  server.bindAsync('127.0.0.1:0', credentialsOf(certificate), listening)
  const way = await severableWayTo('127.0.0.1', await bound)

  return {
    url: `esdb://127.0.0.1:${way.port}?tls=false`,
    port: way.port,
    dropConnections: way.dropConnections,
    /** From now on it accepts connections and never answers; what was under way stays so. */
    freeze: way.freeze,
    thaw: way.thaw,
    /** Nobody can connect any more. */
    stop: way.stop,
    /** Every call is refused so, or done again when undefined. */
    refuseAll: (refusal?: Refusal) => void (behaviour.gate = () => refusal),
    gate: (gate: Behaviour['gate']) => void (behaviour.gate = gate),
    /** Ends all subscriptions, as those are that a slow reader lets run over. */
    dropSubscriptions: (refusal: Refusal) => behaviour.subscriptions.forEach(({ end }) => end(refusal)),
    /** The present subscriptions stay open, but nothing is sent on them any more. */
    muteSubscriptions: () => behaviour.subscriptions.forEach((subscription) => (subscription.isMuted = true)),
    subscriptions: () => behaviour.subscriptions.size,
    /** Messages in answer to reads and on subscriptions so far. */
    messagesSent: () => behaviour.messagesSent,
    /** Appends that have arrived so far, refused ones included. */
    appends: () => behaviour.appends,
    /** How often it was asked for the members of its cluster. */
    gossips: () => behaviour.gossips,
    /** Each of the next appends on a call of its own fails in one of these ways. */
    failAppends: (...next: readonly Fault[]) => void faults.push(...next),
    [Symbol.asyncDispose]: async () => {
      await way[Symbol.asyncDispose]()
      server.forceShutdown()
    },
  }
}
export type TestServer = Awaited<ReturnType<typeof startEventStoreDb>>

const credentialsOf = (certificate: string | undefined) =>
  certificate === undefined
    ? ServerCredentials.createInsecure()
    : ServerCredentials.createSsl(null, [
        {
          cert_chain: readFileSync(certificatePath(`${certificate}.crt`)),
          private_key: readFileSync(certificatePath('server.key')),
        },
      ])

const guardedAppend =
  <Request, Response>(
    refusalOf: Behaviour['gate'],
    handle: handleClientStreamingCall<Request, Response>,
    behaviour: Behaviour,
  ): handleClientStreamingCall<Request, Response> =>
  (call, answer) => {
    behaviour.appends += 1
    const refusal = refusalOf(call.metadata)
    if (refusal) answer(refusal)
    else handle(call, answer)
  }

const guardedRead =
  <Request, Response>(
    refusalOf: Behaviour['gate'],
    handle: handleServerStreamingCall<Request, Response>,
  ): handleServerStreamingCall<Request, Response> =>
  (call) => {
    const refusal = refusalOf(call.metadata)
    if (refusal) call.emit('error', refusal)
    else handle(call)
  }

const getSupportedMethods = (_call: unknown, answer: sendUnaryData<features.SupportedMethods>) => {
  const methods = ['read', 'append', 'batchappend'].map((name) =>
    new features.SupportedMethod().setMethodName(name).setServiceName('event_store.client.streams.streams'),
  )
  answer(null, new features.SupportedMethods().setEventStoreServerVersion('24.10.0').setMethodsList(methods))
}
