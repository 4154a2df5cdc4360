import { Metadata, status } from '@grpc/grpc-js'

/** How a server answers instead of doing what it was asked. */
export type Refusal = { readonly code: status; readonly details: string; readonly metadata?: Metadata }

export const notReady: Refusal = { code: status.UNAVAILABLE, details: 'Server Is Not Ready' }

export const unauthenticated: Refusal = { code: status.UNAUTHENTICATED, details: 'Received HTTP status code 401' }

export const accessDenied: Refusal = {
  code: status.PERMISSION_DENIED,
  details: 'Access Denied',
  metadata: Metadata.fromHttp2Headers({ exception: 'access-denied' }),
}

export type Address = { readonly address: string; readonly port: number }

/** A follower names the leader to those who require it. */
export const notLeader = ({ address, port }: Address): Refusal => ({
  code: status.NOT_FOUND,
  details: 'Leader info available',
  metadata: Metadata.fromHttp2Headers({
    exception: 'not-leader',
    'leader-endpoint-host': address,
    'leader-endpoint-port': String(port),
  }),
})

export type User = { readonly username: string; readonly password: string; readonly readsAll: boolean }

/** A subscription that is open on the server. */
export type OpenSubscription = { isMuted: boolean; readonly end: (refusal: Refusal) => void }

/** What a test changes of a server while it runs, and what it counts. */
export type Behaviour = {
  /** Asked before each call; undefined to do it. */
  gate: (metadata: Metadata) => Refusal | undefined
  readonly user: User | undefined
  readonly subscriptions: Set<OpenSubscription>
  messagesSent: number
  appends: number
  gossips: number
}

export const isUser = (metadata: Metadata, { username, password }: User) =>
  metadata.get('authorization')[0] === `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
