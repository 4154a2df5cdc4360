import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { ApiApplicationId, IngestId } from '#domain/values.ts'
import { makeDataKeys } from '#infra/crypto/data-keys.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { newId } from '#infra/ids.ts'
import { makeLog } from '#infra/log.ts'
import { createPool } from '#infra/postgres/postgres.ts'
import { makeRecentContent } from '../../command-api/ingests/recent-content.ts'
import { testDatabase } from '../database.ts'

// A deferred trigger runs when everything else of a transaction is done, right before it commits.
const watched = `
  do $$ begin execute format('alter database %I set synchronous_commit = on', current_database()); end $$;
  create table seen (table_name text, commits text);
  create function see() returns trigger language plpgsql as $$
    begin insert into seen values (tg_table_name, current_setting('synchronous_commit')); return null; end $$;
  create constraint trigger see after insert on data_key deferrable initially deferred
    for each row when (new.subject = 'person:ann') execute function see();
  create constraint trigger see after insert on ingest_content deferrable initially deferred
    for each row execute function see()`

/** How what an event needs is committed, before the event is. */
const commits = async (logIsHere?: boolean) => {
  await using database = await testDatabase()
  await database.pool.query(watched)
  const pool = createPool(database.url)
  const given = logIsHere === undefined ? {} : { logIsHere }
  const keys = deriveKeys(randomBytes(32).toString('base64'))

  await makeDataKeys({ pool, keys, ...given }).of({ organisation_id: newId(), subject: 'person:ann' })
  const sent = { api_application_id: ApiApplicationId.parse(newId()), digest: 'x', ingest_id: IngestId.parse(newId()) }
  const { claimContent } = makeRecentContent({ pool, log: makeLog('silent', 'test'), ...given })
  await claimContent(sent)

  const { rows } = await pool.query<{ table_name: string; commits: string }>('select * from seen order by table_name')
  await pool.end()
  return rows.map((row) => [row.table_name, row.commits])
}

const both = (setting: string) => [
  ['data_key', setting],
  ['ingest_content', setting],
]

test('what an event needs is on the disk before the event is, or, in one database, together with it', async () => {
  expect(await commits(true)).toEqual(both('off'))
  expect(await commits(false)).toEqual(both('on'))
  expect(await commits()).toEqual(both('on'))
})
