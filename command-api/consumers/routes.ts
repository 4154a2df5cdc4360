import type { Pool } from 'pg'
import { z } from 'zod'
import { notFound } from '#domain/rejection.ts'
import { describedConsumer } from '#infra/consumers/checkpoint.ts'
import { requestRebuild } from '#infra/consumers/requested-rebuilds.ts'
import { requestResume } from '#infra/consumers/set-aside.ts'
import { Problem } from '#infra/http/problem.ts'
import { newId } from '#infra/ids.ts'
import { route, type Route } from '#infra/http/route.ts'
import { readModelVersions } from '#infra/read-models.ts'
import { impersonalRoute } from '../operator.ts'

const ConsumerName = z.string().min(1).max(300)

const requireConsumer = async (pool: Pool, name: string) => {
  const found = await describedConsumer(pool, name)
  if (!found) throw notFound('consumer')
  return found
}

/** Acts of operators on the work that follows the log. */
export const consumerRoutes = ({ pool }: { readonly pool: Pool }): Route[] => [
  route(
    {
      ...impersonalRoute('operator'),
      method: 'post',
      address: '/admin/v1/consumers/:name/resume',
      summary: 'Have a consumer handle the events of records that it has set aside, of one or of all',
      path: z.object({ name: ConsumerName }),
      body: z.object({ record: z.string().min(1).max(300).nullish().describe('One of them; left out: all.') }),
      example: { path: { name: 'applications' }, body: {} },
      answers: { 202: z.object({ data: z.object({ records: z.int().describe('How many are resumed now.') }) }) },
      errors: ['conflict'],
    },
    async ({ path: { name }, body: { record } }) => {
      if ((await requireConsumer(pool, name)).shares_rows)
        throw new Problem('conflict', `Rows of ${name} belong to several records. Rebuild all of it instead.`)
      return { status: 202, body: { data: { records: await requestResume(pool, name, record ?? undefined) } } }
    },
  ),
  route(
    {
      ...impersonalRoute('operator'),
      method: 'post',
      address: '/admin/v1/consumers/:name/rebuild',
      summary:
        'Have a read model built again from the first event, beside the one in use; GET of the consumer shows how far it is',
      path: z.object({ name: ConsumerName }),
      body: z.object({
        rebuild_id: z.uuid().optional().describe('Sent again with the same id, it is the same rebuild.'),
      }),
      example: { path: { name: 'complaints' }, body: {} },
      answers: { 202: z.object({ data: z.object({ name: z.string() }) }) },
      errors: ['conflict'],
    },
    async ({ path: { name }, body: { rebuild_id = newId() } }) => {
      await requireConsumer(pool, name)
      if (!readModelVersions.has(name))
        throw new Problem('conflict', `${name} is no read model. Resume its records instead.`)
      await requestRebuild(pool, name, rebuild_id)
      return { status: 202, body: { data: { name } } }
    },
  ),
]
