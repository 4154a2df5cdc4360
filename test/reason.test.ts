import { DatabaseError } from 'pg'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { OwnError } from '#domain/own-error.ts'
import { Rejection } from '#domain/rejection.ts'
import { LogUnavailable } from '#infra/event-log/event-log.ts'
import { reasonOf, shownError } from '#infra/reason.ts'

const secret = 'ann@example.com'

const thrownBy = (work: () => unknown): unknown => {
  try {
    return work()
  } catch (error) {
    return error
  }
}

const invalid = Object.assign(new DatabaseError(`invalid input syntax for type integer: "${secret}"`, 1, 'error'), {
  code: '22P02',
  detail: secret,
})
const foreign: readonly (readonly [string, unknown, RegExp])[] = [
  [
    'JSON that cannot be parsed',
    thrownBy(() => JSON.parse(`{"email": ${secret}`)),
    /^SyntaxError at reason\.test\.ts:/,
  ],
  ['a value that does not fit', thrownBy(() => z.strictObject({}).parse({ [secret]: 1 })), /^ZodError at /],
  ['a statement with a value', invalid, /^error 22P02 at reason\.test\.ts:\d+$/],
  ['an error of a library', new Error(`${secret}\n    at ${secret}`), /^Error at reason\.test\.ts:\d+$/],
  ['an error with a name of its own', Object.assign(new Error('x'), { name: secret, code: secret }), /^Error at /],
  ['an error whose code is there and undefined', Object.assign(new Error('x'), { code: undefined }), /^Error at /],
  ['no error at all', { email: secret }, /^unknown$/],
]

test.each(foreign)('of a foreign error, only name, code and place are shown: %s', (_, error, reason) => {
  expect(reasonOf(error)).toMatch(reason)
  const shown = JSON.stringify(shownError(new Error('outer', { cause: error })))
  expect(shown).not.toContain(secret)
  expect(shown).not.toContain('outer')
})

test.each([
  ['an error of ours', new OwnError('the message'), 'the message'],
  ['a refusal', new Rejection('not_found', 'the message'), 'the message'],
  ['a log that is away', new LogUnavailable('the message'), 'the message'],
  [
    'a socket',
    Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED', syscall: 'connect' }),
    'connect ECONNREFUSED 127.0.0.1:1',
  ],
  ['a lost connection', new Error('Connection terminated unexpectedly'), 'Connection terminated unexpectedly'],
])('%s says why in its message', (_, error, message) => {
  expect(reasonOf(error)).toBe(message)
  expect(shownError(error)).toMatchObject({ message, stack: expect.stringContaining('reason.test.ts') as unknown })
})
