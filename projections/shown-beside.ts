import type { ClientBase, Pool } from 'pg'
import { preparing, removeCheckpoint } from '#infra/consumers/checkpoint.ts'
import { forgetSetAside } from '#infra/consumers/set-aside.ts'
import { sql, transaction } from '#infra/postgres/postgres.ts'
import { readModelsSchema, versionBeside } from '#infra/read-models.ts'
import type { Beside } from './filling.ts'
import type { SomeProjection } from './projection.ts'

/**
 * A version of a read model that stands beside the one in use is shown by a view of the same name, in the schema where
 * connections of that version of the service look first: they read it, and all others the table in use.
 */
export const besideOf = ({ name, version }: SomeProjection): Beside => {
  const { consumer, suffix } = versionBeside(name, version)
  return { consumer, suffix }
}

type View = { readonly schema: string; readonly table: string }

/** The views that show a version of a read model which stands beside the one in use. */
const viewsOf = async (db: Pool | ClientBase, { name }: SomeProjection): Promise<readonly View[]> => {
  const { rows } = await db.query<View>(sql`
    select schemaname as schema, substring(definition from ${`${name}__v[0-9]+`}) as table from pg_views
    where schemaname like 'read\\_models\\_%' and viewname = ${name} order by 1`)
  return rows
}

/** The version of a projection stands beside the one in use, filled, for those who read it. */
export const isShown = async (db: Pool | ClientBase, projection: SomeProjection): Promise<boolean> => {
  const own = `${projection.name}${besideOf(projection).suffix}`
  return (await viewsOf(db, projection)).some(({ table }) => table === own)
}

/** From now on, connections of this version of the service read the table beside. Nobody else makes tables meanwhile. */
export const show = async (db: ClientBase, projection: SomeProjection): Promise<void> => {
  const { name } = projection
  await db.query(`create schema if not exists ${readModelsSchema};
    create or replace view ${readModelsSchema}."${name}" as select * from public."${name}${besideOf(projection).suffix}"`)
}

/** Locks what shows versions beside, before the tables: in the order in which readers do. */
export const lockShown = async (db: ClientBase, projection: SomeProjection): Promise<void> => {
  const views = await viewsOf(db, projection)
  for (const { schema } of views) await db.query(`lock table "${schema}"."${projection.name}" in access exclusive mode`)
}

/** Every version has the same name again: removes the views, and the tables beside but the one that is put in use. */
export const removeShown = async (db: ClientBase, projection: SomeProjection, kept: Beside): Promise<void> => {
  const { name } = projection
  const views = await viewsOf(db, projection)
  for (const { schema } of views) await db.query(`drop view "${schema}"."${name}"`)
  const { rows } = await db.query<{ consumer: string; version: number }>(sql`
    select name as consumer, version from consumer_checkpoint where name = ${`${name} (version `} || version || ')'`)
  for (const { consumer, version } of rows) {
    if (consumer === kept.consumer) continue
    await db.query(`drop table if exists public."${name}${versionBeside(name, version).suffix}"`)
    await forgetSetAside(db, consumer)
    await removeCheckpoint(db, consumer)
  }
}

/** Removes the schemas that show nothing any more. Apart from the swaps, which would wait for each other. */
export const removeEmptySchemas = (pool: Pool): Promise<void> =>
  transaction(pool, async (db) => {
    await preparing(db)
    const { rows } = await db.query<{ schema: string }>(sql`
      select nspname as schema from pg_namespace
      where nspname like 'read\\_models\\_%' and not exists (select from pg_class where relnamespace = pg_namespace.oid)`)
    for (const { schema } of rows) await db.query(`drop schema "${schema}"`)
  })
