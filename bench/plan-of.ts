import { escapeLiteral, type Pool, type QueryConfig } from 'pg'

/**
 * How PostgreSQL executes a statement, with what each step took: executed in a transaction that is rolled back, with the plan
 * that a prepared statement has after some executions, which knows no value.
 */
export const planOf = async (pool: Pool, { text, values = [] }: QueryConfig): Promise<readonly string[]> => {
  const db = await pool.connect()
  try {
    await db.query('begin')
    await db.query('set local plan_cache_mode = force_generic_plan')
    await db.query(`prepare explained as ${text}`)
    const given = values.length === 0 ? '' : `(${values.map(literal).join(', ')})`
    const { rows } = await db.query<{ 'QUERY PLAN': string }>(
      `explain (analyze, buffers, costs off) execute explained${given}`,
    )
    await db.query('deallocate explained')
    return rows.map((row) => row['QUERY PLAN'])
  } finally {
    await db.query('rollback')
    db.release()
  }
}

const literal = (value: unknown): string => {
  if (value === null || value === undefined) return 'null'
  return escapeLiteral(Array.isArray(value) ? `{${value.map(plain).join(',')}}` : plain(value))
}

const plain = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value).replaceAll(/^"|"$/g, '')
