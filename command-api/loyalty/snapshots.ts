import type { Pool } from 'pg'
import { z } from 'zod'
import { entriesIn, noEntries, type Entry } from '#domain/loyalty/entry-set.ts'
import { fromTheBeginning, type MembershipState } from '#domain/loyalty/membership-state.ts'
import type { KnownEntries } from '#domain/loyalty/membership.ts'
import type { Membership } from '#domain/loyalty/record.ts'
import { CannotUnseal, decrypt, encrypt } from '#infra/crypto/aead.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import { isAboutErased } from '#infra/crypto/erased.ts'
import { bindingBytes } from '#infra/crypto/seal.ts'
import { subjectOfStream } from '#infra/crypto/subjects.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import type { Log } from '#infra/log.ts'
import { sql, transaction } from '#infra/postgres/postgres.ts'
import { findSnapshot, saveSnapshot, type Reached } from '#infra/snapshots.ts'
import type { Snapshots } from '../writing/handle.ts'
import type { Causes } from '../writing/writer.ts'

type Deps = {
  readonly pool: Pool
  readonly eventLog: Pick<EventLog, 'head' | 'read' | 'measure'>
  readonly dataKeys: Pick<DataKeys, 'of' | 'byId'>
  readonly log: Pick<Log, 'warn'>
  /** The entries after which a snapshot is worth while: no more are folded at a time, nor kept in memory. */
  readonly every?: number
}

/** Raised whenever a membership is folded differently, as the version of its projection is. */
export const snapshotVersion = 2

/** The partner's reference, sealed under the key of the member. */
const Sealed = z.object({ key_id: z.string(), sealed: z.string() })

const Saved = z.object({
  document: z.custom<Membership>(),
  causes: z.record(z.string(), z.string()),
  reference: Sealed.nullable(),
})

/** A lost snapshot is saved again. */
const repeatable = { isRepeatable: true }

const bindingOf = (membership_id: string): Buffer => bindingBytes(['membership_snapshot', membership_id])

const streamOf = (membership_id: string): string => `membership-${membership_id}`

/** Long memberships: what they were folded to, and by which keys their entries are known. */
export const makeMembershipSnapshots = ({ pool, eventLog, dataKeys, log, every = 500 }: Deps) => {
  const sealed = async ({ id, organisation_id, customer_id, external_member_ref }: Membership) => {
    if (!external_member_ref) return null
    const subject = subjectOfStream(streamOf(id), customer_id)
    const { id: key_id, key } = await dataKeys.of({ organisation_id, subject })
    return { key_id, sealed: encrypt(key, external_member_ref, bindingOf(id)).toString('base64url') }
  }

  /** The reference as the log has it now: of a person who was erased it is empty. */
  const opened = async (membership_id: string, { key_id, sealed }: z.infer<typeof Sealed>): Promise<string> => {
    const key = (await dataKeys.byId(new Set([key_id]))).get(key_id)
    if (key instanceof CannotUnseal) throw key
    if (key === undefined || key === 'erased') return ''
    return decrypt(key, Buffer.from(sealed, 'base64url'), bindingOf(membership_id)).toString()
  }

  const save = async (
    membership: Membership,
    { entries, causes, reached }: { entries: readonly Entry[]; causes: Causes; reached: Reached },
  ): Promise<void> => {
    const { id } = membership
    const reference = await sealed(membership)
    const document = reference ? { ...membership, external_member_ref: null } : membership
    const state = JSON.stringify({ document, causes, reference } satisfies z.infer<typeof Saved>)
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
        await saveSnapshot(client, { name: streamOf(id), version: snapshotVersion }, { ...reached, state })
      },
      repeatable,
    )
  }

  const snapshots: Snapshots<MembershipState> = {
    read: async (stream) => {
      const found = await findSnapshot(pool, eventLog, { name: stream, version: snapshotVersion })
      if (!found) return undefined
      const { document, causes, reference } = Saved.parse(JSON.parse(found.state))
      const { revision } = found.lastEvent
      const membership = reference
        ? { ...document, external_member_ref: await opened(document.id, reference) }
        : document
      return { state: { membership, entries: noEntries, entries_after: revision }, revision, causes }
    },

    compact: async (loaded, reached) => {
      const { state, revision, causes } = loaded
      const { membership, entries } = state
      if (!membership || revision === undefined || entries.size < every) return loaded
      try {
        await save(membership, { entries: entriesIn(entries), causes, reached })
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

    /** The recorded ones of these entries, as far as the snapshot. */
    known: async (membership_id: string, entry_ids: readonly string[]): Promise<KnownEntries> => {
      // In one statement, so that both are of the same moment.
      const { rows } = await pool.query<{ as_far_as: number | null } & { [Key in keyof Entry]: Entry[Key] | null }>({
        name: 'membership-entries-known',
        ...sql`select kept.last_revision::integer as as_far_as, entry.entry_id as id, entry.entry_type, entry.points, entry.tier_key
          from (select) as one
          left join fold_snapshot as kept on kept.name = ${streamOf(membership_id)} and kept.version = ${snapshotVersion}
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

/** The type of an entry that was kept without it, as far as can be inferred. */
const typeOf = (points: number | null): Entry['entry_type'] =>
  points === null ? 'tier_asserted' : points < 1 ? 'points_adjusted' : 'points_awarded'

export type MembershipSnapshots = ReturnType<typeof makeMembershipSnapshots>
