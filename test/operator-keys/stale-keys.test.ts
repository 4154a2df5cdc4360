import { createHash } from 'node:crypto'
import type { Request } from 'express'
import { expect, test } from 'vitest'
import { emptyDirectory } from '#domain/access/record.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { makeTokens } from '#infra/crypto/tokens.ts'
import { LogUnavailable } from '#infra/event-log/event-log.ts'
import { makeAdmission } from '#infra/http/admission.ts'

const first = 'the key of the environment'
const named = 'the key of ada'
const baseUrl = 'http://localhost:4000'

const requestWith = (key: string) =>
  ({
    method: 'GET',
    path: '/admin/v1/organisations',
    get: (name: string) => (name === 'authorization' ? `Bearer ${key}` : undefined),
  }) as Partial<Request> as Request

test('a key with a name is not honoured while its end may be unknown; the one of the environment is', async () => {
  const ada = { name: 'ada', scope: 'all', ends_at: null, ended_at: null } as const
  const admission = makeAdmission({
    directory: emptyDirectory(),
    tokens: makeTokens(deriveKeys(Buffer.alloc(32).toString('base64')), baseUrl),
    baseUrl,
    rateLimit: async () => ({ served: true }),
    operatorKey: first,
    operatorKeys: new Map([[createHash('sha256').update(named).digest('hex'), ada]]),
    requireCurrentKeys: () => {
      throw new LogUnavailable('The log is away.')
    },
  })

  await expect(
    admission.admit(requestWith(named), { kind: 'team', roles: ['operator'], showsPersonalData: false }),
  ).rejects.toThrow('The log is away.')
  expect(
    await admission.admit(requestWith(first), { kind: 'team', roles: ['operator'], showsPersonalData: false }),
  ).toEqual({ operator: 'OPERATOR_KEY' })
})
