import type { Pool } from 'pg'
import { SentInstant } from '#domain/values.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import type { Command } from '#infra/process.ts'
import { choice, decidePlanning, findPlanning, fromTheBeginning } from './planning/planning.ts'

type Parts = { readonly pool: Pool; readonly eventLog: EventLog }

const usage = `Usage: ${choice}

  now          sends what is recorded from now on
  beginning    sends everything in the log that an action asks for, from its first event
  <ISO time>   sends what was recorded from then on, for example 2026-03-01T10:00:00Z
`

export const command: Command = {
  usage,
  understands: ([word, from = '', ...rest]) =>
    word === 'plan-from' && rest.length === 0 && (from === 'now' || from === 'beginning' || isTime(from)),
}

const isTime = (from: string): boolean => SentInstant.safeParse(from).success

/**
 * What an operator can do with deliveries: `npm run delivery-worker -- plan-from now`. The exit code: 0 if all is well, 1
 * if not, 2 if the command cannot be understood.
 */
export const deliveryWorkerCommand = async (
  words: readonly string[],
  { pool, eventLog }: Parts,
  output: NodeJS.WritableStream,
): Promise<number> => {
  const write = (line: string) => output.write(`${line}\n`)
  if (!command.understands(words)) {
    output.write(usage)
    return 2
  }
  const [, from = ''] = words

  const before = await findPlanning(pool)
  const chosen =
    from === 'now'
      ? { after_position: (await eventLog.head()) ?? null, from_time: null }
      : { ...fromTheBeginning, from_time: isTime(from) ? new Date(from) : null }
  if (before || !(await decidePlanning(pool, chosen))) {
    write('Nothing was changed: this database plans deliveries already, and goes on from where it is.')
    return 1
  }
  write(`Deliveries are planned from ${from}. Running workers begin by themselves.`)
  return 0
}
