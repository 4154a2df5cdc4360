import type { Pool } from 'pg'
import type { KeptCompared } from '#infra/audit-tree/kept-checkpoints.ts'
import type { FaultInFile, VerifiedFile } from './verify-file.ts'
import type { ComparedAccesses } from './verify-accesses.ts'
import type { Verified } from './verify.ts'

const mostShown = 20

/** The public keys that the database itself names. */
export const keysOfDatabase = async (pool: Pool): Promise<readonly Buffer[]> => {
  const { rows } = await pool.query<{ public_key: Buffer }>('select public_key from audit_key order by first_used_at')
  return rows.map(({ public_key }) => public_key)
}

type Results = {
  readonly verified: Verified
  readonly accesses: ComparedAccesses
  /** Checkpoints that were kept elsewhere. */
  readonly kept?: KeptCompared | undefined
  readonly isKeyGiven: boolean
}

/** The lines that tell what was compared, and what was found. */
export const shownResult = ({ verified, accesses, kept, isKeyGiven }: Results): string => {
  const { logs, leaves, checkpoints, waiting, findings: own } = verified
  const findings = [...own, ...accesses.findings, ...(kept?.findings ?? [])]
  const lines = findings.slice(0, mostShown).map(({ origin, reason }) => `${origin}: ${reason}`)
  if (findings.length > mostShown) lines.push(`and ${findings.length - mostShown} more`)
  lines.push(
    `${leaves} entries of ${logs} logs and ${checkpoints} checkpoints were compared with the events: ${findings.length === 0 ? 'nothing was altered' : 'something was altered'}.`,
  )
  if (accesses.accesses > 0) lines.push(`${accesses.accesses} accesses were compared with their entries.`)
  if (accesses.droppedUntil !== null)
    lines.push(`Accesses before ${accesses.droppedUntil} were dropped while they were kept for less than now.`)
  if (kept) lines.push(`${kept.compared} checkpoints that were kept elsewhere are there, too.`)
  if (kept && kept.former > 0)
    lines.push(
      `${kept.former} that were kept elsewhere are of logs that have begun again since, and are not there any more.`,
    )
  if (waiting > 0) lines.push(`${waiting} events have no entry yet.`)
  if (checkpoints > 0 && !isKeyGiven)
    lines.push('AUDIT_KEY is not set: the checkpoints were checked with the keys that the database names.')
  return `${lines.join('\n')}\n`
}

/** The lines that tell of an export, which a key that stands in it alone does not prove. */
export const shownFile = (file: string, found: VerifiedFile | FaultInFile, isKeyGiven: boolean): string => {
  if ('reason' in found) return `${file}, line ${found.line}: ${found.reason}.\n`
  const { origin, entries, size, key } = found
  const proof = isKeyGiven ? '' : `Compare the key with the one that you have from elsewhere, or give that as --key.\n`
  return `${entries} events are as they were recorded in ${origin}, which had ${size} entries then.\nSigned with ${key}\n${proof}`
}
