import type { Pool } from 'pg'
import type { Json } from '#domain/event.ts'
import { sql } from '#infra/postgres/postgres.ts'

type Wanted = { readonly organisation_id: string; readonly id: string }

/** Reads the documents of a read model by the id of each. `readModel` is one of ours and never what a caller sent. */
export const readDocuments = async <Document>(
  pool: Pool,
  readModel: string,
  wanted: readonly Wanted[],
): Promise<(id: string) => Document | undefined> => {
  if (wanted.length === 0) return () => undefined
  const found = sql`
    unnest(${wanted.map(({ organisation_id }) => organisation_id)}::uuid[], ${wanted.map(({ id }) => id)}::uuid[])
      as wanted (organisation_id, id)`
  const { rows } = await pool.query<{ readonly id: string; readonly document: Document }>({
    text: `select id, document from "${readModel}" join ${found.text} using (organisation_id, id)`,
    values: found.values,
  })
  const documents = new Map(rows.map(({ id, document }) => [id, document]))
  return (id) => documents.get(id)
}

/** Some fields of a record, and no others. */
export const pick = <Thing extends object>(thing: Thing, fields: readonly (keyof Thing)[]): Partial<Thing> =>
  Object.fromEntries(fields.map((field) => [field, thing[field]])) as Partial<Thing> // fields of the thing itself

type Shown = {
  readonly customer?: { readonly id: string } | null
  readonly joint_customer?: { readonly id: string } | null
}

/** The people whom a snapshot shows, in itself or in a record that is part of it. */
export const peopleShown = (_id: string, snapshot: Json | undefined): readonly string[] => {
  // Snapshots are made by this process, of records that name their people so.
  const { application, policy, ...rest } = (snapshot ?? {}) as Shown & {
    readonly application?: Shown
    readonly policy?: Shown
  }
  const shown = [rest, application, policy].flatMap((each) => [each?.customer?.id, each?.joint_customer?.id])
  return [...new Set(shown.filter((id) => id !== undefined))]
}
