import type { Pool } from 'pg'
import { storedEvents } from '#domain/stored-events.ts'
import { OwnError } from '#domain/own-error.ts'
import { ofInstallation, type Access } from '#infra/access-records/access.ts'
import { makeRecordAccess } from '#infra/access-records/recorder.ts'
import type { Config } from '#infra/config.ts'
import { maskedLog } from '#infra/crypto/masked-log.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { newId } from '#infra/ids.ts'
import { makeLog } from '#infra/log.ts'
import { makeMetrics } from '#infra/metrics.ts'
import { createPool } from '#infra/postgres/postgres.ts'
import { openParts } from '#infra/role-parts.ts'
import { progressShown, type Output } from '#infra/shown-progress.ts'
import { allProjections } from '../../projections/all-projections.ts'
import { beginReplay, checkReader, dropReplay, finishReplay, type Run } from '../../projections/audit/replay-schemas.ts'
import { replay, type Replayed } from '../../projections/audit/replay.ts'
import type { AskedReplay } from './read-replay.ts'
import { findAsker, type Asker } from './replay-asker.ts'

const hourMs = 3_600_000

type Replaying = {
  readonly pool: Pool
  readonly eventLog: EventLog
  /** The log as it is stored, which a masked replay reads. */
  readonly storedLog: EventLog
  readonly signal: AbortSignal
  readonly output: Output
}

/** Makes a replay that its reader may then look into. It is recorded who is shown it before they can. */
export const makeReplay = async (asked: AskedReplay, replaying: Replaying): Promise<void> => {
  const { pool, eventLog, storedLog, signal, output } = replaying
  const asker = await findAsker({ ...asked, roles: ['auditor'] }, eventLog, signal)
  const { organisation_id } = asker
  await checkMoment(asked, storedLog)
  const { reader } = asked
  const checkRole = async () => reader === null || checkReader({ role: reader, organisation_id }, pool)
  await checkRole()
  const run = await beginReplay({ ...asked, organisation_id }, pool)
  const shown = progressShown(asked.name, output)
  const made = await replay({
    projections: allProjections,
    run,
    moment: asked.moment,
    organisation_id,
    eventLog: asked.personal === 'opened' ? eventLog : maskedLog(storedLog, storedEvents),
    pool,
    signal,
    report: shown.report,
  }).finally(shown.end)
  // It has taken long: the role may have come to see more meanwhile.
  await checkRole()
  await recordShown(asked, asker, made, run, pool)
  await finishReplay(run, pool)
  output.write(sentenceOf(asked, made))
}

const sentenceOf = ({ name, reader, keepMs }: AskedReplay, { events, rows, setAside }: Replayed): string => {
  const aside =
    setAside > 0 ? ` Records that could not be followed to the end: ${setAside}, in ${name}.replay_set_aside.` : ''
  const whom = reader === null ? 'whoever owns the database' : `the role ${reader}`
  return `${events} events have made ${rows} rows in the schema ${name}, which ${whom} may read for ${keepMs / hourMs} hours.${aside}\n`
}

/** A position is compared as text with those of the same log. */
const checkMoment = async ({ moment }: AskedReplay, { head }: EventLog): Promise<void> => {
  const shapeOf = (position: string) => position.replaceAll(/\d/g, '0')
  const end = await head()
  if (moment.position !== undefined && end !== undefined && shapeOf(moment.position) !== shapeOf(end))
    throw new OwnError('--position must be a position of this log, as position of an event shows it.')
}

/** Each organisation is told of it, and the installation of one that shows them all. */
const recordShown = async (
  { moment, personal }: AskedReplay,
  { actor_type, actor_id, organisation_id }: Asker,
  { rows }: Replayed,
  { name }: Run,
  pool: Pool,
): Promise<void> => {
  const { rows: all } = await pool.query<{ id: string }>(`select organisation_id as id from "${name}".organisations`)
  const organisations = organisation_id === null ? [ofInstallation, ...all.map(({ id }) => id)] : [organisation_id]
  const record = makeRecordAccess(pool, { most: organisations.length })
  const access: Omit<Access, 'id' | 'organisation_id'> = {
    actor_type,
    actor_id,
    method: 'COMMAND',
    route: 'npm run audit -- replay',
    record_type: 'replay',
    record_ids: [],
    rows_shown: Math.min(rows, 2 ** 31 - 1),
    personal,
    filters: [moment.position === undefined ? 'until' : 'position'],
    request_id: newId(),
  }
  await Promise.all(organisations.map((id) => record({ ...access, id: newId(), organisation_id: id })))
}

/** Opens what a replay needs, beside the roles that may run meanwhile. */
const withReplaying = async <Result>(
  config: Config,
  url: string,
  output: Output,
  work: (replaying: Replaying) => Promise<Result>,
): Promise<Result> => {
  const ending = new AbortController()
  const stop = () => ending.abort(new OwnError('The replay was stopped. Run it again: it begins again.'))
  process.once('SIGINT', stop).once('SIGTERM', stop)
  const health = { metrics: makeMetrics() }
  const { parts, close } = await openParts(config, makeLog('warn', 'audit'), ending.signal, url, 'many', health)
  const pool = createPool(url, { max: 4, name: 'coverstream audit', statementMs: hourMs, transactionMs: hourMs })
  try {
    return await work({ ...parts, pool, output })
  } finally {
    await pool.end()
    await close()
  }
}

export const runReplay = (asked: AskedReplay, config: Config, url: string): Promise<void> =>
  withReplaying(config, url, process.stdout, (replaying) => makeReplay(asked, replaying))

/** Drops a replay at once. */
export const runDrop = async (name: string, url: string): Promise<boolean> => {
  const pool = createPool(url, { max: 1, name: 'coverstream audit' })
  try {
    return await dropReplay(name, pool)
  } finally {
    await pool.end()
  }
}
