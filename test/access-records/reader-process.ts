import { z } from 'zod'
import { systemClock } from '#infra/clock.ts'
import { makeRecordAccess } from '#infra/access-records/recorder.ts'
import { httpApp } from '#infra/http/http.ts'
import { listen } from '#infra/http/listen.ts'
import { route, teamRoute } from '#infra/http/route.ts'
import { makeLog } from '#infra/log.ts'
import { makeMetrics } from '#infra/metrics.ts'
import { createPool } from '#infra/postgres/postgres.ts'

// An API with one route that shows a person, which killed.test.ts kills while it is read.

const Person = z.object({ id: z.uuid(), email: z.string() })
const shows = route(
  {
    ...teamRoute('leads'),
    method: 'get',
    address: '/admin/v1/people/:id',
    summary: 'Show a person',
    path: z.object({ id: z.uuid() }),
    answers: { 200: z.object({ data: Person }) },
  },
  async ({ path: { id } }) => ({ status: 200, body: { data: { id, email: 'ada@example.com' } } }),
)

const app = httpApp([shows], {
  log: makeLog('silent', 'test'),
  metrics: makeMetrics(),
  admission: {
    cors: () => false,
    limitRate: async () => undefined,
    admit: async () => ({ operator: 'tester' }),
  },
  subjectCheck: {
    isProven: () => false,
    refuseHidden: async () => undefined,
    refuseMissing: async () => undefined,
    refuseUnknownOrganisation: async () => undefined,
  },
  recordAccess: makeRecordAccess(createPool(process.argv[2] ?? '')),
  clock: systemClock,
  trustedProxies: 0,
  checkAnswers: false,
})

const { port } = await listen(app, '127.0.0.1', 0)
process.send?.(port)
