import { OwnError } from '#domain/own-error.ts'
import { isUnavailable } from './postgres/postgres.ts'

/** Messages of our own errors, of sockets and of a database that is away hold nothing personal; any other may. */
const maySayMore = (error: Error): boolean => error instanceof OwnError || 'syscall' in error || isUnavailable(error)

const codeOf = (error: Error): string | undefined => {
  if (!('code' in error && (typeof error.code === 'string' || typeof error.code === 'number'))) return undefined
  const code = String(error.code)
  return /^[\w.-]{1,40}$/.test(code) ? code : undefined
}

const nameOf = ({ name }: Error): string => (/^\w{1,60}$/.test(name) ? name : 'Error')

const isFrame = (line: string): boolean => /^\s+at /.test(line)

/** The place where an error arose, without its message. */
const framesOf = ({ stack = '', message }: Error): readonly string[] => {
  const after = stack.indexOf(message) + message.length
  const lines = stack.slice(after).split('\n')
  return lines.slice(lines.findLastIndex((line) => line !== '' && !isFrame(line)) + 1).filter(isFrame)
}

/** The first place in our own code, such as `event.ts:151`; otherwise the first in any. */
const sourceOf = (error: Error): string | undefined => {
  const frames = framesOf(error).filter((frame) => source.test(frame))
  const own = frames.find((frame) => !/node_modules|node:/.test(frame))
  return source.exec(own ?? frames[0] ?? '')?.[1]
}
const source = /([\w.-]+:\d+):\d+\)?$/

/** The reason why something failed, for whoever operates the service: never what a person has entered. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown'
  if (maySayMore(error)) return error.message
  const source = sourceOf(error)
  return [nameOf(error), codeOf(error), source && `at ${source}`].filter((part) => part !== undefined).join(' ')
}

/**
 * The fault that a reason names, without a word of a message, which could quote what somebody has entered: its name, its code and its
 * place in the code, such as `error 22003 at table.ts:88`.
 */
export const faultOf = (reason: string): string => (foreign.test(reason) ? reason : 'OwnError')
const foreign = /^(\w{1,60}( [\w.-]{1,40})? at [\w.-]+:\d+|\w{0,60}Error)$/

/** An error as it is logged: never what a person has entered, nor what else hangs on it, such as a connection. */
export const shownError = (error: unknown): unknown => {
  if (!(error instanceof Error)) return typeof error === 'object' ? 'unknown' : error
  const code = codeOf(error)
  return {
    name: nameOf(error),
    message: reasonOf(error),
    ...(code !== undefined && { code }),
    stack: [nameOf(error), ...framesOf(error)].join('\n'),
    ...(error.cause !== undefined && { cause: shownError(error.cause) }),
  }
}
