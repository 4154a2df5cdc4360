import { consumerHealth } from '#infra/consumers/checkpoint.ts'
import type { ConsumerParts } from '#infra/consumers/consumer-type.ts'
import { countSetAside, listSetAside, requestResume } from '#infra/consumers/set-aside.ts'
import { progressShown, type Output } from '#infra/shown-progress.ts'
import { usage } from './command.ts'
import { compareWithRebuild } from './compare.ts'
import { ReaderBehind } from './history.ts'
import type { SomeProjection } from './projection.ts'
import { rebuild } from './rebuild.ts'

const shownSetAside = 20

type Parts = Pick<ConsumerParts, 'eventLog' | 'pool' | 'leases' | 'signal' | 'log'>

/**
 * The operator's command for the read models: `npm run projections -- rebuild all`. The projections may run meanwhile, here
 * or elsewhere. The exit code: 0 if all is well, 1 if not, 2 if the command cannot be understood.
 */
export const projectionsCommand = async (
  [command = '', name = '', record]: readonly string[],
  projections: readonly SomeProjection[],
  parts: Parts,
  output: Output,
): Promise<number> => {
  const write = (line: string) => output.write(`${line}\n`)
  const chosen = projections.filter((projection) => name === 'all' || projection.name === name)

  switch (command) {
    case 'status':
      for (const { name: consumer, version, position, set_aside } of await consumerHealth(parts.pool)) {
        const place = position ? `at ${parts.eventLog.measure(position)}` : 'at the beginning'
        write(`${consumer}  version ${version}, ${place}${set_aside > 0 ? `, records set aside: ${set_aside}` : ''}`)
        for (const each of await listSetAside(parts.pool, consumer, shownSetAside))
          write(`  ${each.record}  ${each.type} ${each.event_id}: ${each.reason ?? 'waits'}`)
      }
      return 0
    case 'resume': {
      const projection = projections.find((each) => each.name === name)
      if (projection?.sharesRows) {
        write(`Rows of ${name} belong to several records, so all of it is rebuilt.`)
        return (await rebuildShown(projection, parts, output)) ? 0 : 1
      }
      const count = await requestResume(parts.pool, name, record)
      if (count > 0) {
        write(`Records of ${name} that are resumed: ${count}. The command status lists those that stay set aside.`)
        return 0
      }
      const known = (await consumerHealth(parts.pool)).map((each) => each.name)
      if (!known.includes(name)) {
        write(`There is no consumer called ${JSON.stringify(name)}. There are: ${known.join(', ')}.`)
        return 2
      }
      write(
        `Nothing${record === undefined ? '' : ` of ${record}`} is set aside by ${JSON.stringify(name)}. See the command status.`,
      )
      return 2
    }
    case 'rebuild':
    case 'compare': {
      if (chosen.length === 0) {
        write(
          `There is no read model called ${JSON.stringify(name)}. There are: ${projections.map((each) => each.name).join(', ')}.`,
        )
        return 2
      }
      const act = command === 'rebuild' ? rebuildShown : compareShown
      let isWell = true
      for (const projection of chosen) isWell = (await act(projection, parts, output)) && isWell
      return isWell ? 0 : 1
    }
    default:
      write(usage)
      return 2
  }
}

const rebuildShown = async (projection: SomeProjection, parts: Parts, output: Output): Promise<boolean> => {
  const { name } = projection
  const shown = progressShown(name, output)
  try {
    await rebuild(projection, parts, { report: shown.report })
    shown.end()
    const count = await countSetAside(parts.pool, name)
    output.write(`${name} was rebuilt.${count > 0 ? ` Records set aside: ${count}. See the command status.` : ''}\n`)
    return count === 0
  } catch (error) {
    shown.end()
    const { signal } = parts
    const reason = reasonOf(error, signal)
    if (reason === undefined) throw error
    output.write(`${name} was not rebuilt, and is as it was: ${reason}\n`)
    return false
  }
}

/** Why a rebuild was given up, in words for the operator; undefined when that is a fault of ours. */
const reasonOf = (error: unknown, signal: AbortSignal): string | undefined => {
  if (error instanceof ReaderBehind) return error.message
  return signal.aborted ? 'it was stopped' : undefined
}

const compareShown = async (projection: SomeProjection, parts: Parts, output: Output): Promise<boolean> => {
  const { rows, different, differences } = await compareWithRebuild(projection, parts)
  output.write(`${projection.name}: ${rows} rows, ${different} different.\n`)
  for (const { inUse, rebuilt } of differences)
    output.write(`  in use:  ${JSON.stringify(inUse ?? null)}\n  rebuilt: ${JSON.stringify(rebuilt ?? null)}\n`)
  return different === 0
}
