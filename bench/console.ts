import { Pool } from 'pg'
import { z } from 'zod'
import type { Environment } from './environment.ts'
import { median, percentile, type Figure } from './figure.ts'
import { startService, type Service } from './service.ts'
import type { Pace } from './throughput.ts'

const warmUp = 10
const eventsOfLead = 10

type Headers = Readonly<Record<string, string>>

const asked = async (service: Service, method: string, path: string, headers: Headers, body?: object) => {
  const response = await fetch(service.origin + path, {
    method,
    // Whoever is not signed in is sent elsewhere.
    redirect: 'error',
    headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${await response.text()}`)
  return response
}

const dataOf = async <Schema extends z.ZodType>(response: Response, schema: Schema): Promise<z.output<Schema>> =>
  schema.parse(z.object({ data: z.unknown() }).parse(await response.json()).data)

/** The cookie of a colleague who may see all lists. */
const signIn = async (service: Service, organisation_id: string): Promise<string> => {
  const asOperator = { authorization: `Bearer ${service.operatorKey}` }
  const users = `/admin/v1/organisations/${organisation_id}/users`
  const user = { name: 'Ada Bench', email: 'ada@bench.test', roles: ['leads', 'auditor'], sees_personal_data: true }
  const { id } = await dataOf(await asked(service, 'POST', users, asOperator, user), z.object({ id: z.string() }))
  const { key } = await dataOf(
    await asked(service, 'POST', `${users}/${id}/keys`, asOperator, {}),
    z.object({ key: z.string() }),
  )
  const session = await asked(service, 'POST', '/admin/v1/session', { origin: service.origin }, { key })
  return session.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')
}

/** An id, in SQL, that a number always has. */
const idOf = (number: string): string =>
  `overlay(overlay(md5((${number})::text) placing '4' from 13) placing '8' from 17)::uuid`

/** Leads and events as their read models hold them; the first lead was sent, and the others are as it is. */
const fill = async (pool: Pool, organisation_id: string, from: number, until: number): Promise<void> => {
  const leads = `
    insert into lead_records (organisation_id, contact_id, position, status, stage, owner_id, due, document, updated_at)
    select organisation_id, ${idOf('number')}, lpad(number::text, 20, '0'), status, stage, owner_id,
      '2031-01-01T00:00:00.000Z/' || ${idOf('number')},
      jsonb_set(document::jsonb, '{contact_id}', to_jsonb(${idOf('number')}))::json, updated_at
    from generate_series($2::integer, $3::integer - 1) as number,
      (select * from lead_records where organisation_id = $1 order by updated_at limit 1) as first
    on conflict do nothing`
  const events = `
    insert into recorded_events (organisation_id, stream, revision, position, recorded_at, occurred_at, event_id, kind,
      actor_type, actor_id, correlation_id, causation_id, person_id, second_person_id)
    select $1, 'lead-' || ${idOf(`number / ${eventsOfLead}`)}, number % ${eventsOfLead}, lpad(number::text, 20, '0'),
      '2026-01-01'::timestamptz + number * interval '1 s', '2026-01-01'::timestamptz + number * interval '1 s',
      ${idOf('-number')}, 'LeadMarked', 'system', 'bench', md5(number::text), null, ${idOf(`number / ${eventsOfLead}`)}, null
    from generate_series($2::integer * ${eventsOfLead}, $3::integer * ${eventsOfLead} - 1) as number
    on conflict do nothing`
  for (const statement of [leads, events]) await pool.query(statement, [organisation_id, from, until])
}

const lists = ['leads', 'leads?status=open', 'leads/due', 'history'] as const

const look = async (service: Service, path: string, cookie: string, times: number): Promise<readonly number[]> => {
  const taken: number[] = []
  for (let number = 0; number < times + warmUp; number++) {
    const startedAt = performance.now()
    await (await asked(service, 'GET', path, { cookie })).text()
    taken.push(performance.now() - startedAt)
  }
  return taken.slice(warmUp)
}

/** The first page of the console's longest lists, as a browser gets it, one request at a time. */
export const measureConsole = async (environment: Environment, { looks, applications }: Pace) => {
  const service = await startService(environment, { name: 'console' })
  const pool = new Pool({ connectionString: service.database, max: 2 })
  const organisations = z.array(z.object({ id: z.string(), slug: z.string() }))
  const asOperator = { authorization: `Bearer ${service.operatorKey}` }
  const all = await dataOf(await asked(service, 'GET', '/admin/v1/organisations', asOperator), organisations)
  const organisation_id = all.find(({ slug }) => slug === 'bench')?.id ?? ''
  await service.send('POST', '/api/v1/crm/ingests', { source: 'bench', identity: { email: 'one@bench.test' } })
  const cookie = await signIn(service, organisation_id)
  const figures: Figure[] = []
  let filled = 1
  for (const leads of [Math.floor(applications / 100), applications]) {
    for (; filled < leads; filled = Math.min(leads, filled + 20_000))
      await fill(pool, organisation_id, filled, Math.min(leads, filled + 20_000))
    await pool.query('vacuum analyze lead_records, recorded_events')
    for (const list of lists) {
      const taken = await look(service, `/console/organisations/${organisation_id}/${list}`, cookie, looks)
      figures.push({
        name: `console: ${list}, ${leads.toLocaleString('en-GB')} leads, ${(leads * eventsOfLead).toLocaleString('en-GB')} events, p99`,
        unit: 'ms',
        value: percentile(taken, 0.99),
        target: { below: 200 },
        details: { 'ms at the median': median(taken), most: Math.max(...taken) },
      })
    }
  }
  await pool.end()
  await service.child.stop()
  return figures
}
