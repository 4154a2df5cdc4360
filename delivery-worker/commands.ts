import type { Pool } from 'pg'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { command, isTime } from './command.ts'
import { decidePlanning, findPlanning, fromTheBeginning } from './planning/planning.ts'

type Parts = { readonly pool: Pool; readonly eventLog: EventLog }

/**
 * The operator's commands for deliveries: `npm run delivery-worker -- plan-from now`. The exit code: 0 if all is well, 1 if
 * not, 2 if the command cannot be understood.
 */
export const deliveryWorkerCommand = async (
  words: readonly string[],
  { pool, eventLog }: Parts,
  output: NodeJS.WritableStream,
): Promise<number> => {
  const write = (line: string) => output.write(`${line}\n`)
  if (!command.understands(words)) {
    output.write(command.usage)
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
