import { expect, test } from 'vitest'
import { misconfiguration } from '#infra/postgres/misconfiguration.ts'

test('a Unix socket that the process may not use is a wrong setting, and no outage to wait for', () => {
  const refused = Object.assign(new Error('connect EACCES /run/postgresql/.s.PGSQL.5432'), { code: 'EACCES' })

  expect(misconfiguration(refused, '/run/postgresql')?.message).toBe(
    'DATABASE_URL: this user of the machine may not use the socket of PostgreSQL (/run/postgresql: connect EACCES /run/postgresql/.s.PGSQL.5432)',
  )
})
