import { expect, test } from 'vitest'
import { makeLog } from '#infra/log.ts'

const lineOf = (write: (log: ReturnType<typeof makeLog>) => void): Record<string, unknown> => {
  const lines: string[] = []
  write(makeLog('info', 'a role', { write: (line) => lines.push(line) }))
  return JSON.parse(lines.join('')) as Record<string, unknown>
}

test('a line has its message, its level, its role and its fields', () => {
  expect(lineOf((log) => log.info({ delivery_id: 'd', ms: 3, types: ['a', 'b'] }, 'delivery attempted'))).toMatchObject(
    {
      level: 'info',
      role: 'a role',
      msg: 'delivery attempted',
      delivery_id: 'd',
      ms: 3,
      types: ['a', 'b'],
    },
  )
})

test('credentials and personal data never stand in a line, however deep they are', () => {
  const secrets = { token: 'hidden', client_secret: 'hidden', email: 'hidden', risk_factors: { smoker: 'hidden' } }

  const line = lineOf((log) => log.warn({ ...secrets, request: { ...secrets, list: [{ body: secrets }] } }, 'seen'))

  expect(JSON.stringify(line)).not.toContain('hidden')
  expect(line).toMatchObject({ token: '[redacted]', request: { email: '[redacted]' } })
})

test('an error shows where it arose, and not what somebody entered', () => {
  const error = Object.assign(new Error('somebody@example.com is no number'), { email: 'somebody@example.com' })

  const line = lineOf((log) => log.error({ error }, 'failed'))

  expect(JSON.stringify(line)).not.toContain('somebody')
  expect(line['error']).toMatchObject({ name: 'Error', message: expect.stringContaining('log.test.ts') as string })
})

test('what is logged is not changed', () => {
  const fields = { token: 'kept', request: { email: 'kept' } }

  lineOf((log) => log.info(fields, 'seen'))

  expect(fields).toEqual({ token: 'kept', request: { email: 'kept' } })
})
