import { createRequire } from 'node:module'

// The client's messages know only Google's messages of the very version that the client brings with it.
const ours = createRequire(import.meta.url)
const theirs = createRequire(ours.resolve('@eventstore/db-client'))

export const { Any } = theirs(
  'google-protobuf/google/protobuf/any_pb.js',
) as typeof import('google-protobuf/google/protobuf/any_pb.js')

export const { Empty } = theirs(
  'google-protobuf/google/protobuf/empty_pb.js',
) as typeof import('google-protobuf/google/protobuf/empty_pb.js')
