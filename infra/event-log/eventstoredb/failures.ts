import { NotLeaderError } from '@eventstore/db-client'
import { status } from '@grpc/grpc-js'
import { OwnError } from '#domain/own-error.ts'

/** A server, or all of them, did not answer in time, or ended what it should have gone on with. */
export class NoAnswer extends OwnError {
  override readonly name = 'NoAnswer'
}

const transientCodes: readonly unknown[] = [
  status.CANCELLED,
  status.UNKNOWN,
  status.DEADLINE_EXCEEDED,
  status.ABORTED,
  status.INTERNAL,
  status.UNAVAILABLE,
]

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined)

/** True where a failure lies with the connection or with a server that is starting, busy or no longer the leader. */
export const isTransient = (error: unknown): boolean =>
  error instanceof NoAnswer || error instanceof NotLeaderError || transientCodes.includes(codeOf(error))

/** True where the server knows no such user, or does not allow them this. */
export const isRefusal = (error: unknown): boolean =>
  codeOf(error) === status.UNAUTHENTICATED || codeOf(error) === status.PERMISSION_DENIED

export const refusalOf = (error: unknown, what: string): string =>
  codeOf(error) === status.UNAUTHENTICATED
    ? 'the server does not accept the user and password'
    : `the user has no right to ${what}`

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** A growing delay with some chance in it, so that those who failed together do not come back together. */
export const delayAfter = (failures: number, maximumMs: number) =>
  Math.min(25 * 2 ** Math.min(failures, 10), maximumMs) * (0.5 + Math.random() / 2)
