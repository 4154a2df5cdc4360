import { Server, ServerCredentials, type sendUnaryData } from '@grpc/grpc-js'
import features from '@eventstore/db-client/generated/serverfeatures_pb.js'
import { ServerFeaturesService } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import { appending, batchAppending, type Fault } from './appending.ts'
import { makeDatabase, type DatabaseOptions } from './database.ts'
import { severableWayTo } from './proxy.ts'
import { reading } from './reading.ts'

type Options = Partial<DatabaseOptions> & { readonly maxAppendSize?: number }

/** The part of EventStoreDB 24.10 that our adapter speaks with, in memory, on a free port. */
export const startEventStoreDb = async ({ maxAppendSize = 1_048_576, ...options }: Options = {}) => {
  const database = makeDatabase({ systemEvents: true, positionsOfRepeats: true, ...options })
  const faults: Fault[] = []
  const server = new Server({ 'grpc.max_receive_message_length': 17 * 1024 * 1024 })
  server.addService(StreamsService, {
    append: appending(database, maxAppendSize, faults),
    batchAppend: batchAppending(database, maxAppendSize),
    read: reading(database),
  })
  server.addService(ServerFeaturesService, { getSupportedMethods })

  const { promise: bound, resolve, reject } = Promise.withResolvers<number>()
  const listening = (error: Error | null, port: number) => (error ? reject(error) : resolve(port))
  server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), listening)
  const way = await severableWayTo('127.0.0.1', await bound)

  return {
    url: `esdb://127.0.0.1:${way.port}?tls=false`,
    dropConnections: way.dropConnections,
    /** Each of the next appends on a call of its own fails in one of these ways. */
    failAppends: (...next: readonly Fault[]) => void faults.push(...next),
    [Symbol.asyncDispose]: async () => {
      await way[Symbol.asyncDispose]()
      server.forceShutdown()
    },
  }
}

const getSupportedMethods = (_call: unknown, answer: sendUnaryData<features.SupportedMethods>) => {
  const methods = ['read', 'append', 'batchappend'].map((name) =>
    new features.SupportedMethod().setMethodName(name).setServiceName('event_store.client.streams.streams'),
  )
  answer(null, new features.SupportedMethods().setEventStoreServerVersion('24.10.0').setMethodsList(methods))
}
