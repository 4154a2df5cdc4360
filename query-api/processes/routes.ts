import type { Pool } from 'pg'
import { z } from 'zod'
import { impersonalRoute, route, type Route } from '#infra/http/route.ts'
import type { Failing } from '#infra/process-report.ts'
import { sql } from '#infra/postgres/postgres.ts'

/** A process says every ten seconds that it is there. */
const silentAfterSeconds = 30
const mostShown = 500

const Process = z
  .object({
    id: z.uuid(),
    role: z.string().describe('`all` where one process runs every role.'),
    host: z.string(),
    version: z.string().describe('Of the service, with a mark of the read models that it makes.'),
    state: z
      .enum(['ready', 'not_ready', 'silent'])
      .describe(`\`silent\`: it has not been heard of for ${silentAfterSeconds} seconds, and was not stopped.`),
    started_at: z.iso.datetime(),
    last_seen_at: z.iso.datetime(),
    reasons: z
      .array(z.object({ check: z.string(), detail: z.string().nullable() }))
      .describe('The checks of its health that it did not pass.'),
  })
  .meta({ id: 'Process' })

type Row = {
  readonly id: string
  readonly role: string
  readonly host: string
  readonly version: string
  readonly started_at: Date
  readonly last_seen_at: Date
  readonly failing: readonly Failing[]
  readonly is_silent: boolean
}

const shown = ({ failing, is_silent, started_at, last_seen_at, ...row }: Row): z.infer<typeof Process> => ({
  ...row,
  state: is_silent ? 'silent' : failing.length > 0 ? 'not_ready' : 'ready',
  started_at: started_at.toISOString(),
  last_seen_at: last_seen_at.toISOString(),
  reasons: failing.map(({ name, detail = null }) => ({ check: name, detail })),
})

/** The processes of the service, as each has written of itself. */
export const processRoute = ({ pool }: { readonly pool: Pool }): Route =>
  route(
    {
      ...impersonalRoute('operator'),
      method: 'get',
      address: '/admin/v1/processes',
      summary: 'List the processes of the service: those that run, and those that fell silent within a day',
      answers: { 200: z.object({ data: z.array(Process) }) },
    },
    async () => {
      const { rows } = await pool.query<Row>(sql`
        select id, role, host, version, started_at, last_seen_at, failing,
          last_seen_at < now() - make_interval(secs => ${silentAfterSeconds}) as is_silent
        from process order by is_silent, role, started_at, id limit ${mostShown}`)
      return { status: 200, body: { data: rows.map(shown) } }
    },
  )
