import type { Pool } from 'pg'
import { counted } from '#domain/plural.ts'
import { sql } from '../postgres/postgres.ts'
import type { Command } from '../process.ts'
import { progressShown, type Output } from '../shown-progress.ts'
import type { Keys } from './keys.ts'
import { outdatedDataKeys, rotate, type Unopened } from './rotate.ts'
import { sealedUnder } from './seal.ts'

type Parts = {
  readonly pool: Pool
  readonly keys: Pick<Keys, 'sealing'>
  readonly signal: AbortSignal
  /** The secrets of accounts and connections that are sealed under a master key, and whose they are. */
  readonly secretsInUse: () => Promise<readonly SecretInUse[]>
}

type SecretInUse = { readonly sealed: string; readonly organisation_id: string; readonly of: string }

const usage = `Commands for the keys:

  status        which master keys are in use, and what is sealed under them
  rotate        seals everything in the database again under MASTER_KEY
  retire <id>   lets the service start without an earlier master key that nothing needs any more
`

export const command: Command = {
  usage,
  understands: ([word = '']) => ['status', 'rotate', 'retire'].includes(word),
}

/**
 * The operator's commands about the keys: `npm run keys -- rotate`. The service may run meanwhile. The exit code: 0 if all is
 * well, 1 if not, 2 if the command cannot be understood.
 */
export const keysCommand = async (
  [command = '', id = '']: readonly string[],
  parts: Parts,
  output: Output,
): Promise<number> => {
  const write = (line: string) => output.write(`${line}\n`)
  switch (command) {
    case 'status': {
      for (const line of await statusOf(parts)) write(line)
      return 0
    }
    case 'rotate':
      return rotateShown(parts, output)
    case 'retire': {
      const refusal = await retire(id, parts)
      write(
        refusal ??
          `${id} is retired. Remove it from MASTER_KEYS_EARLIER. Share tokens of applications and links of messages that were made with it are then refused.`,
      )
      return refusal === undefined ? 0 : 1
    }
    default:
      output.write(usage)
      return 2
  }
}

type MasterKey = { readonly id: string; readonly first_used_at: Date }

const organisationKeysUnder = async (pool: Pool): Promise<ReadonlyMap<string, number>> => {
  const { rows } = await pool.query<{ sealed: string }>('select sealed from organisation_key')
  const counts = new Map<string, number>()
  for (const { sealed } of rows) counts.set(sealedUnder(sealed), (counts.get(sealedUnder(sealed)) ?? 0) + 1)
  return counts
}

/** The secrets sealed under any key, or under this one, but not under MASTER_KEY; nothing when there is none. */
const secretsLeft = async ({ keys, secretsInUse }: Parts, id?: string): Promise<readonly string[]> => {
  const left = (await secretsInUse()).filter(({ sealed }) =>
    id === undefined ? sealedUnder(sealed) !== keys.sealing.id : sealedUnder(sealed) === id,
  )
  if (left.length === 0) return []
  // An account has several secrets, and is given with all of them.
  const holders = [...new Set(left.map(({ of, organisation_id }) => `  ${of} of ${organisation_id}`))]
  return [
    `${counted(left.length, 'secret')} in use ${left.length === 1 ? 'is' : 'are'} sealed under ${id ?? 'an earlier master key'}. Give each again, or apply the set-up file that holds it:`,
    ...holders.slice(0, mostNamed),
    ...(holders.length > mostNamed ? [`  and ${holders.length - mostNamed} more`] : []),
  ]
}
const mostNamed = 20

const statusOf = async (parts: Parts): Promise<readonly string[]> => {
  const { pool, keys } = parts
  const { rows } = await pool.query<MasterKey>(sql`select id, first_used_at from master_key order by first_used_at`)
  const under = await organisationKeysUnder(pool)
  const { rows: counted } = await pool.query<{ kept: string; erased: string }>(sql`
    select count(*) filter (where erased_at is null) as kept, count(*) filter (where erased_at is not null) as erased
    from data_key`)
  const [data] = counted
  const outdated = await outdatedDataKeys(pool)
  const left = await secretsLeft(parts)
  const isRotated = outdated === 0 && [...under.keys()].every((id) => id === keys.sealing.id)
  return [
    ...rows.map(({ id, first_used_at }) => {
      const role = id === keys.sealing.id ? 'MASTER_KEY' : 'MASTER_KEYS_EARLIER'
      return `${id}  ${role}, first used ${first_used_at.toISOString()}, seals ${under.get(id) ?? 0} organisation keys`
    }),
    `${data?.kept ?? 0} data keys, ${outdated} of them under a former key of their organisation; ${data?.erased ?? 0} erased`,
    ...(isRotated ? [] : ['Run npm run keys -- rotate to seal the data keys under MASTER_KEY.']),
    ...left,
    ...(isRotated && left.length === 0 ? ['Everything is sealed under MASTER_KEY.'] : []),
  ]
}

const rotateShown = async (parts: Parts, output: Output): Promise<number> => {
  const { pool, keys, signal } = parts
  const shown = progressShown('data keys', output)
  try {
    const left: Unopened[] = []
    const sealed = await rotate({
      pool,
      keys,
      signal,
      report: shown.report,
      unopened: (key) => left.push(key),
    })
    shown.end()
    if (left.length > 0) {
      output.write(`${resealed(sealed)}. These cannot be opened, and were left as they are:\n`)
      for (const { id, organisation_id, reason } of left) output.write(`  ${id} of ${organisation_id}: ${reason}\n`)
      output.write('Restore them from a backup, or give the key that they need, and run it again.\n')
      return 1
    }
    const secrets = await secretsLeft(parts)
    const isAll = secrets.length === 0
    output.write(`${resealed(sealed)}.${isAll ? ` Everything is sealed under MASTER_KEY (${keys.sealing.id}).` : ''}\n`)
    for (const line of secrets) output.write(`${line}\n`)
    return 0
  } catch (error) {
    shown.end()
    if (!signal.aborted) throw error
    output.write('The rotation was stopped. Run it again: it goes on where it was.\n')
    return 1
  }
}

/** The reason why it cannot be retired; undefined when it was. */
const retire = async (id: string, parts: Parts): Promise<string | undefined> => {
  const { pool, keys } = parts
  if (id === keys.sealing.id) return `${id} is MASTER_KEY, which is in use.`
  const sealed = (await organisationKeysUnder(pool)).get(id) ?? 0
  if (sealed > 0) return `${id} seals ${sealed} organisation keys. Run npm run keys -- rotate first.`
  const left = await secretsLeft(parts, id)
  if (left.length > 0) return left.join('\n')
  const { rowCount } = await pool.query(sql`delete from master_key where id = ${id}`)
  return rowCount === 0 ? `There is no master key ${JSON.stringify(id)}. The command status lists them.` : undefined
}

const resealed = (count: number): string => `${counted(count, 'data key')} ${count === 1 ? 'was' : 'were'} sealed again`
