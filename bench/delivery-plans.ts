import type { ClientBase, Pool, QueryConfig } from 'pg'
import { readOptions } from '#infra/command-line.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { migrate } from '#infra/postgres/migrations.ts'
import { createPool, transaction } from '#infra/postgres/postgres.ts'
import { capabilities } from '../delivery-worker/capabilities.ts'
import { candidateSearch } from '../delivery-worker/endpoints/endpoints.ts'
import { renewLeases } from '../delivery-worker/sending/leases.ts'
import { claim, complete, releaseInOrder, type Claimed } from '../delivery-worker/sending/queue.ts'
import { recoverStep } from '../delivery-worker/recovery/recovery.ts'
import { makeWorkplace } from './environment.ts'
import { fillDeliveries } from './filled-deliveries.ts'
import { planOf } from './plan-of.ts'

/**
 * How PostgreSQL executes each statement of the queue, with many deliveries present.
 *
 *   node bench/delivery-plans.ts [--deliveries 1000000]
 */

export type Plan = { readonly what: string; readonly lines: readonly string[] }

const connections = 8

/** Fills the tables, and then claims, completes, finds and recovers deliveries, with the plan of every statement. */
export const plansOfDeliveries = async (pool: Pool, count: number): Promise<readonly Plan[]> => {
  const deriving = deriveKeys(Buffer.alloc(32, 1).toString('base64'))
  const url = 'https://receiver.example.com/'
  const organisation_id = '6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f'
  const share = Math.ceil(count / 50)
  for (let part = 0; part < 40; part++)
    await fillDeliveries(pool, { deriving, url, count: share, connections, organisation_id, state: 'delivered' })
  for (let part = 0; part < 10; part++) await fillDeliveries(pool, { deriving, url, count: share, connections })
  await pool.query(`insert into delivery_attempt (recorded_at, delivery_id, number, started_at, outcome, status)
    select recorded_at, id, 1, now(), 'answered', 200 from delivery where state = 'delivered'`)
  await pool.query(`insert into delivery_recovery (id, organisation_id, requested_at, states, since, until, per_second,
      after_recorded_at)
    values (gen_random_uuid(), '${organisation_id}', now(), '{delivered}', '-infinity', now(), 1000, '-infinity')`)
  await pool.query('analyze')

  const plans: Plan[] = []
  let doing = ''
  const explain = async (statement: QueryConfig): Promise<void> => {
    plans.push({ what: doing, lines: await planOf(pool, statement) })
  }
  const explaining = <Db extends Pool | ClientBase>(db: Db): Db =>
    new Proxy(db, {
      get: (target, name) => {
        if (name === 'query')
          return async (asked: QueryConfig | string) => {
            // Inside a transaction rows are locked already, so the plan is asked for without executing it there.
            if (typeof asked !== 'string' && target === pool) await explain(asked)
            return target.query(asked as QueryConfig)
          }
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
  const watched = explaining(pool)
  const doingIt = async <Result>(what: string, work: () => Promise<Result>): Promise<Result> => {
    doing = what
    return work()
  }

  const candidates = await doingIt('search', () => candidateSearch(watched).find(true))
  const claimed = await doingIt('claim', () =>
    claim(
      watched,
      candidates.slice(0, 16).map((each) => ({ ...each, room: 8 })),
    ),
  )
  await doingIt('renew', () => renewLeases(watched, claimed))
  await doingIt('complete', () => complete(watched, claimed.map(ended)))
  await doingIt('release in order', () => releaseInOrder(watched))
  await doingIt('recover', async () => {
    await explain({
      text: `select id, recorded_at from delivery
        where organisation_id = $1 and (recorded_at, id) > ($2, $3::uuid) and recorded_at <= $4
        order by recorded_at, id limit 2000`,
      values: [organisation_id, new Date(0), '00000000-0000-0000-0000-000000000000', new Date()],
    })
    await recoverStep(pool, capabilities)
  })
  await doingIt('cancel', () =>
    transaction(pool, async (db) => {
      await db.query('select 1')
      await explain({
        text: 'select id from delivery_queue where organisation_id = $1 and connection_id = $2 order by id for update',
        values: [organisation_id, claimed[0]?.connection_id],
      })
    }),
  )
  return plans
}

const ended = ({ id, recorded_at, connection_id, number, started_at, waited_seconds }: Claimed) => ({
  id,
  recorded_at,
  connection_id,
  number,
  started_at,
  waited_seconds,
  outcome: 'answered' as const,
  status: 200,
  reason: null,
  state: 'delivered' as const,
  delay_seconds: 0,
  exchange: null,
  key_id: null,
  sealed: null,
})

const main = async (): Promise<void> => {
  const { values } = readOptions('Usage: node bench/delivery-plans.ts [--deliveries 1000000]\n', {
    options: { deliveries: { type: 'string', default: '1000000' } },
  })
  const environment = await makeWorkplace()
  try {
    const pool = createPool(await environment.database('delivery_plans'), { statementMs: 600_000 })
    await migrate(pool)
    for (const { what, lines } of await plansOfDeliveries(pool, Number(values.deliveries)))
      process.stdout.write(`\n${what}\n  ${lines.join('\n  ')}\n`)
    await pool.end()
  } finally {
    await environment.clear()
  }
}

if (import.meta.main) await main()
