import type { Pool } from 'pg'

/** Whatever of these words stands anywhere in a database, with the table that it stands in. */
export const readableIn = async (pool: Pool, words: RegExp): Promise<readonly string[]> => {
  const { rows: tables } = await pool.query<{ name: string }>(`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema') and schemaname not like 'pg_temp%'`)
  const found: string[] = []
  for (const { name } of tables) {
    const { rows } = await pool.query<{ text: string | null }>(
      `select string_agg(rows::text, E'\\n') as text from ${name} as rows`,
    )
    const word = words.exec(rows[0]?.text ?? '')?.[0]
    if (word !== undefined) found.push(`${name}: ${word}`)
  }
  return found
}
