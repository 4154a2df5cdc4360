import type { Pool } from 'pg'
import { auditConsumer, newestGeneration } from '#infra/audit-tree/tree-rows.ts'
import { resetCheckpoint } from '#infra/consumers/checkpoint.ts'
import { sql, transaction } from '#infra/postgres/postgres.ts'

/** Begins the audit logs again from the first event. Whoever fills the former ones sees it at its next write. */
export const beginNewLog = (pool: Pool, because: string): Promise<number> =>
  transaction(pool, async (db) => {
    await resetCheckpoint(db, auditConsumer, undefined)
    const generation = (await newestGeneration(db)).generation + 1
    await db.query(sql`insert into audit_generation (generation, because) values (${generation}, ${because})`)
    return generation
  })
