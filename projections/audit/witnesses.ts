import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import { consistencyProof } from '#infra/audit-tree/merkle.ts'
import { nodeIn, tilesFor } from '#infra/audit-tree/tiles.ts'
import { readTiles } from '#infra/audit-tree/tree-rows.ts'
import { showToWitness, type WitnessAnswer } from '#infra/audit-tree/show-to-witness.ts'
import { nameOfWitness, type Witness } from '#infra/audit-tree/witness.ts'
import type { Finding } from '#infra/audit-tree/kept-checkpoints.ts'
import type { GuardedHttp } from '#infra/guarded-http.ts'
import type { Log } from '#infra/log.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { reasonOf } from '#infra/reason.ts'
import { settlesWithin } from '#infra/timeout.ts'

type Parts = {
  readonly pool: Pool
  readonly http: Pick<GuardedHttp, 'request'>
  readonly witnesses: readonly Witness[]
  readonly generation: number
  readonly log: Log
  readonly signal: AbortSignal
  /** The time between two looks for checkpoints that a witness has not cosigned. */
  readonly pollMs: number
}

type Tree = {
  readonly id: number
  readonly origin: string
  /** Of the newest checkpoint. */
  readonly size: number
  readonly note: string
  /** Of the last one that the witness has cosigned, as far as is known. */
  readonly cosigned: number
}

const treesAtOnce = 100
const mostPauseMs = 300_000
const beginsWithinMs = 10_000

/**
 * Shows the newest checkpoint of each log to every witness, and keeps what they sign. A log of which a witness knows more than we do,
 * or otherwise, is not signed any more. A witness that does not answer holds up nobody.
 */
export const openWitnesses = async (parts: Parts) => {
  const { log, signal, pollMs, witnesses } = parts
  /** By witness and log; one that is cosigned again was not altered. */
  const altered = new Map<string, Finding>()
  const troubles = new Map<string, string>()

  const showAll = async (witness: Witness): Promise<void> => {
    let trouble: string | undefined
    for (let after: number | undefined = 0; after !== undefined && !signal.aborted;) {
      const trees = await findUnseen(parts, witness, after)
      for (const tree of trees) {
        signal.throwIfAborted()
        const shown = await show(parts, witness, tree)
        const { origin } = tree
        const name = `${nameOfWitness(witness)} ${origin}`
        if (shown.outcome === 'cosigned') altered.delete(name)
        else if (shown.outcome === 'altered') {
          const finding = { origin, reason: shown.reason }
          if (!altered.has(name)) log.error(finding, 'an audit log is not what a witness has seen')
          altered.set(name, finding)
        } else trouble ??= `${origin}: ${shown.reason}`
        // The other logs would wait for it as long.
        if (shown.outcome === 'unanswered') return note(witness, trouble)
      }
      after = trees.length < treesAtOnce ? undefined : trees.at(-1)?.id
    }
    note(witness, trouble)
  }
  const note = (witness: Witness, trouble: string | undefined): void => {
    const name = nameOfWitness(witness)
    if (trouble === undefined) troubles.delete(name)
    else {
      if (!troubles.has(name)) log.warn({ witness: name, reason: trouble }, 'a witness does not cosign, trying again')
      troubles.set(name, trouble)
    }
  }
  const run = async (witness: Witness, began: () => void): Promise<void> => {
    let failures = 0
    while (!signal.aborted) {
      await showAll(witness).catch((error: unknown) => {
        if (!signal.aborted) note(witness, reasonOf(error))
      })
      began()
      failures = troubles.has(nameOfWitness(witness)) ? failures + 1 : 0
      const restMs = Math.min(pollMs * 2 ** failures, Math.max(pollMs, mostPauseMs))
      await pause(restMs, undefined, { signal }).catch(() => undefined)
    }
  }

  // Before anything is signed it is looked if a witness knows more, unless they do not answer.
  const begun = witnesses.map((witness) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    return { finished: run(witness, resolve), promise }
  })
  await settlesWithin(Promise.all(begun.map(({ promise }) => promise)), beginsWithinMs)
  return {
    refusals: (): readonly Finding[] => [...altered.values()],
    refusalOf: (wanted: string): string | undefined =>
      [...altered.values()].find(({ origin }) => origin === wanted)?.reason,
    trouble: (): string | undefined => {
      const [first] = troubles
      return first && `${first[0]}: ${first[1]}`
    },
    finished: Promise.all(begun.map(({ finished }) => finished)) as Promise<unknown>,
  }
}
export type Witnesses = Awaited<ReturnType<typeof openWitnesses>>

/** The logs whose newest checkpoint a witness has not cosigned. */
const findUnseen = async ({ pool, generation }: Parts, witness: Witness, after: number): Promise<readonly Tree[]> => {
  const { rows } = await pool.query<{ id: number; origin: string; size: string; note: string; cosigned: string }>(sql`
    select tree.id, tree.origin, last.size, last.note, coalesce(seen.size, 0) as cosigned from audit_tree as tree
    cross join lateral (
      select size, note from audit_checkpoint where tree_id = tree.id order by size desc limit 1) as last
    left join lateral (
      select size from audit_cosignature where tree_id = tree.id and witness = ${nameOfWitness(witness)}
      order by size desc limit 1) as seen on true
    where tree.generation = ${generation} and tree.signed_size > 0 and tree.id > ${after} and last.size > coalesce(seen.size, 0)
    order by tree.id limit ${treesAtOnce}`)
  return rows.map((row) => ({ ...row, size: Number(row.size), cosigned: Number(row.cosigned) }))
}

type Shown =
  { readonly outcome: 'cosigned' } | { readonly outcome: 'altered' | 'refused' | 'unanswered'; readonly reason: string }

const show = async (parts: Parts, witness: Witness, tree: Tree): Promise<Shown> => {
  const name = nameOfWitness(witness)
  let former = tree.cosigned
  // The size that it names may be news to us: once more, with the proof from there.
  for (let attempt = 1; attempt <= 2; attempt++) {
    const answer = await showFrom(parts, witness, tree, former)
    switch (answer.outcome) {
      case 'cosigned':
        await keep(parts.pool, tree, name, answer)
        return { outcome: 'cosigned' }
      case 'not_consistent':
        return { outcome: 'altered', reason: `the witness ${name} has seen other entries in it` }
      case 'refused':
      case 'unanswered':
        return answer
      case 'other_size':
        if (answer.size > tree.size) return beyondIt(parts.pool, tree, name, answer.size)
        former = answer.size
    }
  }
  return { outcome: 'refused', reason: 'it names another size each time' }
}

const showFrom = async (
  { pool, http }: Parts,
  witness: Witness,
  { id, size, note }: Tree,
  former: number,
): Promise<WitnessAnswer> => {
  if (former === 0 || former === size) return showToWitness(http, witness, { former, proof: [], note })
  const wanted = tilesFor((nodeAt) => consistencyProof(former, size, nodeAt)).map((tile) => ({ ...tile, tree: id }))
  const tiles = (await readTiles(pool, wanted)).get(id) ?? new Map<string, Buffer>()
  return showToWitness(http, witness, { former, proof: consistencyProof(former, size, nodeIn(tiles)), note })
}

/** It has seen a later checkpoint than the one that was shown: one that was signed since, or one that is there no more. */
const beyondIt = async (pool: Pool, { id }: Tree, name: string, seen: number): Promise<Shown> => {
  const { rows } = await pool.query<{ size: string }>(
    sql`select coalesce(max(size), 0) as size from audit_checkpoint where tree_id = ${id}`,
  )
  const size = Number(rows[0]?.size)
  return seen > size
    ? {
        outcome: 'altered',
        reason: `the witness ${name} has cosigned ${seen} entries, the database has signed ${size}`,
      }
    : { outcome: 'refused', reason: 'it has seen a later checkpoint' }
}

const keep = async (
  pool: Pool,
  { id, size }: Tree,
  name: string,
  { line, at }: Extract<WitnessAnswer, { outcome: 'cosigned' }>,
): Promise<void> => {
  await pool.query(sql`
    insert into audit_cosignature (tree_id, witness, size, line, cosigned_at) values (${id}, ${name}, ${size}, ${line}, ${at})
    on conflict do nothing`)
}
