import { z } from 'zod'
import { canonicalJson } from '#domain/canonical-json.ts'

/**
 * The entry of the accesses of an organisation from one time on and before another: how many they are, and their fingerprint. None of
 * the same organisation lies between two such entries.
 */
export const AccessEntry = z.object({
  kind: z.literal('accesses'),
  since: z.iso.datetime(),
  until: z.iso.datetime(),
  accesses: z.int().positive(),
  sha256: z.string(),
})
export type AccessEntry = z.infer<typeof AccessEntry>

/** At most some 250 bytes. */
export const accessLeaf = (entry: AccessEntry): string => canonicalJson(entry)

/** SQL: the fingerprint of rows of `access_record`, that of each after the other in the order of their time. */
export const digestOfAccesses = `
  encode(sha256(coalesce(string_agg(sha256(convert_to(jsonb_build_array(id, round(extract(epoch from at) * 1000), organisation_id,
    actor_type, actor_id, method, route, record_type, record_ids, rows_shown, personal, filters, request_id)::text, 'UTF8')),
    ''::bytea order by at, id), ''::bytea)), 'hex')`
