import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { OrganisationId, PolicyId } from '#domain/values.ts'
import { Problem } from '#infra/http/problem.ts'
import { sql } from '#infra/postgres/postgres.ts'

const everyMs = 20

/** Resolves once a policy can be read; after `withinMs` it asks the caller to send the request again. */
export type WaitUntilReadable = (organisation_id: OrganisationId, policy_id: PolicyId) => Promise<void>

export const makeWaitUntilReadable =
  (pool: Pool, withinMs = 3_000): WaitUntilReadable =>
  async (organisation_id, policy_id) => {
    const deadline = performance.now() + withinMs
    for (;;) {
      const { rows } = await pool.query({
        name: 'policy-is-readable',
        ...sql`select 1 from policies where organisation_id = ${organisation_id} and id = ${policy_id}`,
      })
      if (rows.length > 0) return
      if (performance.now() > deadline)
        throw new Problem('unavailable', 'The policy was bought and cannot be read yet. Send the request again.', {
          headers: { 'Retry-After': '1' },
        })
      await pause(everyMs)
    }
  }
