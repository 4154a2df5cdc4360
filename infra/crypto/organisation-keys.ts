import { createSecretKey, type KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { OwnError } from '#domain/own-error.ts'
import type { Database } from '../postgres/lookups.ts'
import { sql } from '../postgres/postgres.ts'
import { CannotUnseal, newKey } from './aead.ts'
import type { Keys } from './keys.ts'
import { seal, unseal } from './seal.ts'

/** The key that wraps the data keys of an organisation. A rotation makes the next version. */
export type OrganisationKey = { readonly version: number; readonly key: KeyObject }

type Row = { readonly version: number; readonly sealed: string }

const bindingOf = (organisationId: string, version: number) => ['organisation key', organisationId, String(version)]

export const sealOrganisationKey = (
  keys: Pick<Keys, 'sealing'>,
  organisationId: string,
  version: number,
  key: KeyObject,
) => seal(keys, key.export().toString('base64'), bindingOf(organisationId, version))

export const openOrganisationKey = (
  keys: Pick<Keys, 'sealing'>,
  organisationId: string,
  { version, sealed }: Row,
): KeyObject => createSecretKey(unseal(keys, sealed, bindingOf(organisationId, version)), 'base64')

type KeyVersion = { readonly organisation_id: string; readonly version: number }

export const keyName = ({ organisation_id, version }: KeyVersion): string => `${version} ${organisation_id}`

const keysRemembered = 5_000
const newestRememberedMs = 60_000

/** The organisations' keys of a database, as they are needed. */
export const makeOrganisationKeys = ({
  pool,
  keys,
}: {
  readonly pool: Database
  readonly keys: Pick<Keys, 'sealing'>
}) => {
  const known = new LRUCache<string, KeyObject>({ max: keysRemembered })
  const newest = new LRUCache<string, OrganisationKey>({ max: keysRemembered, ttl: newestRememberedMs })

  const open = (organisationId: string, row: Row): OrganisationKey => {
    const name = keyName({ organisation_id: organisationId, version: row.version })
    const key = known.get(name) ?? openOrganisationKey(keys, organisationId, row)
    known.set(name, key)
    return { version: row.version, key }
  }

  const readNewest = async (organisationId: string): Promise<OrganisationKey | undefined> => {
    const { rows } = await pool.query<Row>(sql`
      select version, sealed from organisation_key where organisation_id = ${organisationId}
      order by version desc limit 1`)
    return rows[0] && open(organisationId, rows[0])
  }

  const readOrMakeNewest = async (organisationId: string): Promise<OrganisationKey> => {
    const remembered = newest.get(organisationId) ?? (await readNewest(organisationId))
    if (remembered) {
      newest.set(organisationId, remembered)
      return remembered
    }
    const sealed = sealOrganisationKey(keys, organisationId, 1, newKey())
    await pool.query(sql`
        insert into organisation_key (organisation_id, version, sealed) values (${organisationId}, 1, ${sealed})
        on conflict do nothing`)
    // Another process may have been faster.
    const made = await readNewest(organisationId)
    if (!made) throw new OwnError(`The key of organisation ${organisationId} was removed while it was made.`)
    newest.set(organisationId, made)
    return made
  }

  return {
    /** The key for new data keys, made when the organisation has none. */
    newest: readOrMakeNewest,

    /** The organisations among several whose newest key cannot be opened, each with the reason. */
    unusable: async (
      wanted: readonly { readonly organisation_id: string }[],
    ): Promise<ReadonlyMap<string, CannotUnseal>> => {
      const failures = new Map<string, CannotUnseal>()
      const check = async (id: string) => {
        try {
          await readOrMakeNewest(id)
        } catch (error) {
          if (!(error instanceof CannotUnseal)) throw error
          failures.set(id, error)
        }
      }
      await Promise.all([...new Set(wanted.map(({ organisation_id }) => organisation_id))].map(check))
      return failures
    },

    forgetNewest: (organisationId: string): void => {
      newest.delete(organisationId)
    },

    /** The loaded keys of an organisation, by version. */
    versionsOf: (organisationId: string): Pick<ReadonlyMap<number, KeyObject>, 'get'> => ({
      get: (version) => known.get(keyName({ organisation_id: organisationId, version })),
    }),

    /** Makes several known, with one statement. For those that cannot be opened, by `keyName`, the reason. */
    learn: async (wanted: readonly KeyVersion[]): Promise<ReadonlyMap<string, CannotUnseal>> => {
      const failures = new Map<string, CannotUnseal>()
      const { rows } = await pool.query<Row & { readonly organisation_id: string }>(sql`
        select organisation_id, version, sealed
        from unnest(${wanted.map((each) => each.organisation_id)}::text[], ${wanted.map((each) => each.version)}::integer[])
          as wanted (organisation_id, version)
        join organisation_key using (organisation_id, version)`)
      for (const row of rows)
        try {
          open(row.organisation_id, row)
        } catch (error) {
          if (!(error instanceof CannotUnseal)) throw error
          failures.set(keyName(row), error)
        }
      return failures
    },
  }
}
export type OrganisationKeys = ReturnType<typeof makeOrganisationKeys>
