import { z } from 'zod'
import { CannotUnseal, decrypt } from '#infra/crypto/aead.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import { bindingBytes } from '#infra/crypto/seal.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'

type Row = { readonly number: number; readonly key_id: string; readonly sealed: Buffer }
type Head = { readonly headers: Record<string, string> } | null
type Attempt = { readonly number: number; readonly request: Head; readonly response: Head }
type Delivery = { readonly id: string; readonly organisation_id: string; readonly recorded_at: string }

const Bodies = z.object({ request: z.string(), response: z.string().nullable() })

/** The bodies of the failed attempts of a delivery, as far as the person whom they are about was not erased. */
export const readBodies = async (
  db: Database,
  dataKeys: Pick<DataKeys, 'byId'>,
  { id, organisation_id, recorded_at }: Delivery,
): Promise<<Each extends Attempt>(attempt: Each) => Each> => {
  const { rows } = await db.query<Row>(sql`
    select number, key_id, sealed from delivery_attempt
    where delivery_id = ${id} and recorded_at = ${recorded_at} and key_id is not null order by number limit 100`)
  const keys = await dataKeys.byId(new Set(rows.map(({ key_id }) => key_id)))
  const opened = new Map<number, z.output<typeof Bodies>>()
  for (const { number, key_id, sealed } of rows) {
    const key = keys.get(key_id)
    if (key === undefined || key === 'erased' || key instanceof CannotUnseal) continue
    const text = decrypt(key, sealed, bindingBytes([organisation_id, 'delivery', id, String(number)]))
    opened.set(number, Bodies.parse(JSON.parse(text.toString())))
  }
  return (attempt) => {
    const bodies = opened.get(attempt.number)
    if (!bodies) return attempt
    const { request, response } = attempt
    return {
      ...attempt,
      request: request && { ...request, body: bodies.request },
      response: response && (bodies.response === null ? response : { ...response, body: bodies.response }),
    }
  }
}
