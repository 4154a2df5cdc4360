import type { Pool } from 'pg'
import { BadConfiguration } from '../config.ts'
import type { Check } from '../http/health.ts'
import { sql } from '../postgres/postgres.ts'
import { withTimeout } from '../timeout.ts'
import { CannotUnseal } from './aead.ts'
import type { Keys } from './keys.ts'
import { seal, unseal } from './seal.ts'

type Row = { readonly id: string; readonly check_value: string }

const checkText = 'Coverstream'
const binding = ['master key']

const opensCheck = (keys: Pick<Keys, 'sealing'>, { check_value }: Row): boolean => {
  try {
    return unseal(keys, check_value, binding) === checkText
  } catch (error) {
    if (error instanceof CannotUnseal) return false
    throw error
  }
}

/**
 * Compares the master keys that were given with those that were in use on this database, and records the present one.
 * Throws `BadConfiguration` when one of them is missing, since what was made with it could not be read.
 */
export const checkMasterKeys = async (pool: Pool, keys: Pick<Keys, 'sealing'>): Promise<void> => {
  const { rows } = await pool.query<Row>(sql`select id, check_value from master_key order by first_used_at`)
  const missing = rows.filter((row) => !opensCheck(keys, row)).map(({ id }) => id)
  if (rows.length > 0 && missing.length === rows.length)
    throw new BadConfiguration(
      `MASTER_KEY: is ${keys.sealing.id}, but this database was used with ${missing.join(', ')}; give that key, or see docs/keys.md`,
    )
  if (missing.length > 0)
    throw new BadConfiguration(
      `MASTER_KEYS_EARLIER: ${missing.join(', ')} is missing, with which some of what is stored here was made; see docs/keys.md`,
    )
  if (rows.some(({ id }) => id === keys.sealing.id)) return
  await pool.query(sql`
    insert into master_key (id, check_value) values (${keys.sealing.id}, ${seal(keys, checkText, binding)})
    on conflict (id) do nothing`)
}

const askMs = 1_500

/**
 * Checks that this process has every master key that others have begun with since it started: it could neither read nor write
 * what is sealed under another. A database that is away is reported elsewhere.
 */
export const masterKeysCheck = async (pool: Pool, keys: Pick<Keys, 'sealing'>): Promise<Check> => {
  const asked = pool.query<Pick<Row, 'id'>>(sql`select id from master_key order by first_used_at`)
  const { rows } = await withTimeout(asked, askMs).catch(() => ({ rows: [] }))
  const missing = rows.map(({ id }) => id).filter((id) => !keys.sealing.all.has(id))
  return {
    name: 'master_keys',
    ok: missing.length === 0,
    ...(missing.length > 0 && { detail: `${missing.join(', ')} is missing: give it and restart; see docs/keys.md` }),
  }
}
