import type { Pool } from 'pg'
import { entriesIn, noEntries, type Entry } from '#domain/loyalty/entry-set.ts'
import { fromTheBeginning, type MembershipState } from '#domain/loyalty/membership-state.ts'
import type { KnownEntries } from '#domain/loyalty/membership.ts'
import type { Membership } from '#domain/loyalty/record.ts'
import { idOf } from '#domain/event.ts'
import { CannotUnseal, decrypt, encrypt } from '#infra/crypto/aead.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import { isAboutErased } from '#infra/crypto/erased.ts'
import { placeBytes } from '#infra/crypto/seal.ts'
import { subjectOfStream } from '#infra/crypto/subjects.ts'
import type { Log } from '#infra/log.ts'
import { sql, transaction } from '#infra/postgres/postgres.ts'
import type { Snapshots } from '../writing/handle.ts'
import type { Causes } from '../writing/writer.ts'

type Deps = {
  readonly pool: Pool
  readonly dataKeys: Pick<DataKeys, 'of' | 'byId'>
  readonly log: Pick<Log, 'warn'>
  /** After so many entries a snapshot is worth while: no more are folded at a time, nor kept in memory. */
  readonly every?: number
}

/** Raised whenever a membership is folded differently, as the version of its projection is. */
export const snapshotVersion = 2

type Row = {
  readonly revision: number
  readonly event_id: string
  readonly causes: Causes
  readonly document: Membership
  readonly key_id: string | null
  readonly sealed_reference: Buffer | null
}

/** What is lost is saved again. */
const repeatable = { isRepeatable: true }

const placeOf = (membership_id: string): Buffer => placeBytes(['membership_snapshot', membership_id])

/** Long memberships: what they were folded to, and by which keys their entries are known. */
export const makeMembershipSnapshots = ({ pool, dataKeys, log, every = 500 }: Deps) => {
  const sealed = async ({ id, organisation_id, customer_id, external_member_ref }: Membership) => {
    if (!external_member_ref) return { key_id: null, sealed_reference: null }
    const subject = subjectOfStream(`membership-${id}`, customer_id)
    const { id: key_id, key } = await dataKeys.of({ organisation_id, subject })
    return { key_id, sealed_reference: encrypt(key, Buffer.from(external_member_ref), placeOf(id)) }
  }

  /** The reference as the log has it now: of a person who was erased it is empty. */
  const opened = async ({ document, key_id, sealed_reference }: Row): Promise<string | null> => {
    if (key_id === null || sealed_reference === null) return document.external_member_ref
    const key = (await dataKeys.byId(new Set([key_id]))).get(key_id)
    if (key instanceof CannotUnseal) throw key
    return key === undefined || key === 'erased' ? '' : decrypt(key, sealed_reference, placeOf(document.id)).toString()
  }

  const save = async (
    membership: Membership,
    {
      entries,
      revision,
      causes,
      event_id,
    }: { entries: readonly Entry[]; revision: number; causes: Causes; event_id: string },
  ): Promise<void> => {
    const { key_id, sealed_reference } = await sealed(membership)
    const { id, organisation_id } = membership
    const document = key_id === null ? membership : { ...membership, external_member_ref: null }
    await transaction(
      pool,
      async (client) => {
        await client.query(sql`
        insert into membership_entry_key as kept (membership_id, entry_id, entry_type, points, tier_key)
        select ${id}, * from unnest(${entries.map((each) => each.id)}::uuid[],
          ${entries.map(({ entry_type }) => entry_type)}::text[],
          ${entries.map(({ points }) => points)}::integer[], ${entries.map(({ tier_key }) => tier_key)}::text[])
        on conflict (membership_id, entry_id) do update set entry_type = excluded.entry_type
        where kept.entry_type is null`)
        await client.query(sql`
        insert into membership_snapshot as kept
          (organisation_id, membership_id, version, revision, event_id, causes, document, key_id, sealed_reference)
        values (${organisation_id}, ${id}, ${snapshotVersion}, ${revision}, ${event_id}, ${JSON.stringify(causes)},
          ${JSON.stringify(document)}, ${key_id}, ${sealed_reference})
        on conflict (membership_id) do update set
          version = excluded.version, revision = excluded.revision, event_id = excluded.event_id,
          causes = excluded.causes, document = excluded.document, key_id = excluded.key_id,
          sealed_reference = excluded.sealed_reference
        where kept.version <> excluded.version or kept.revision < excluded.revision`)
      },
      repeatable,
    )
  }

  const snapshots: Snapshots<MembershipState> = {
    read: async (stream) => {
      const { rows } = await pool.query<Row>({
        name: 'membership-snapshot',
        ...sql`select revision, event_id, causes, document, key_id, sealed_reference from membership_snapshot
          where membership_id = ${idOf(stream)} and version = ${snapshotVersion}`,
      })
      const [row] = rows
      if (!row) return undefined
      const { revision, event_id, causes, document } = row
      const membership = { ...document, external_member_ref: await opened(row) }
      return { state: { membership, entries: noEntries, entries_after: revision }, revision, causes, event_id }
    },

    compact: async (_stream, loaded, event_id) => {
      const { state, revision, causes } = loaded
      const { membership, entries } = state
      if (!membership || revision === undefined || entries.size < every) return loaded
      try {
        await save(membership, { entries: entriesIn(entries), revision, causes, event_id })
        return { state: { membership, entries: noEntries, entries_after: revision }, revision, causes }
      } catch (error) {
        // It is only slower without: of an erased person nothing is sealed any more.
        if (!isAboutErased(error))
          log.warn({ error, membership_id: membership.id }, 'membership snapshot was not saved')
        return loaded
      }
    },
  }

  return {
    ...snapshots,

    /** Which of these entries were recorded, as far as the snapshot. */
    known: async (membership_id: string, entry_ids: readonly string[]): Promise<KnownEntries> => {
      // In one statement, so that both are of the same moment.
      const { rows } = await pool.query<{ as_far_as: number | null } & { [Key in keyof Entry]: Entry[Key] | null }>({
        name: 'membership-entries-known',
        ...sql`select kept.revision as as_far_as, entry.entry_id as id, entry.entry_type, entry.points, entry.tier_key
          from (select) as one
          left join membership_snapshot as kept on kept.membership_id = ${membership_id} and kept.version = ${snapshotVersion}
          left join membership_entry_key as entry
            on entry.membership_id = ${membership_id} and entry.entry_id = any(${entry_ids}::uuid[])`,
      })
      const entries = rows.flatMap(({ id, entry_type, points, tier_key }) =>
        id === null ? [] : [{ id, entry_type: entry_type ?? typeOf(points), points, tier_key }],
      )
      return { as_far_as: rows[0]?.as_far_as ?? fromTheBeginning, entries }
    },
  }
}
/** Of an entry whose type was not kept: as much as can be told. */
const typeOf = (points: number | null): Entry['entry_type'] =>
  points === null ? 'tier_asserted' : points < 1 ? 'points_adjusted' : 'points_awarded'

export type MembershipSnapshots = ReturnType<typeof makeMembershipSnapshots>
