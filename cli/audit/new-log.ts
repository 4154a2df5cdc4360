import type { Pool } from 'pg'
import { auditConsumer, newestGeneration } from '#infra/audit-tree/tree-rows.ts'
import { generationIn } from '#infra/audit-tree/witness-notes.ts'
import { resetCheckpoint } from '#infra/consumers/checkpoint.ts'
import { sql, transaction } from '#infra/postgres/postgres.ts'

/** Begins the audit logs again from the first event. Whoever fills the former ones sees it at its next write. */
export const beginNewLog = async (pool: Pool, because: string, witnessFile?: string): Promise<number> => {
  // After a restore the file may know logs that the database does not: their names are not used again.
  const witnessed = witnessFile === undefined ? 0 : await generationIn(witnessFile)
  return transaction(pool, async (db) => {
    await resetCheckpoint(db, auditConsumer, undefined)
    const generation = Math.max((await newestGeneration(db)).generation, witnessed) + 1
    await db.query(sql`insert into audit_generation (generation, because) values (${generation}, ${because})`)
    return generation
  })
}
