import { consumerHealth, resumeConsumer } from '#infra/consumers/checkpoint.ts'
import { EventFailed, type ConsumerParts } from '#infra/consumers/follow.ts'
import { progressShown, type Output } from '#infra/shown-progress.ts'
import { compareWithRebuild } from './compare.ts'
import { ReaderBehind } from './history.ts'
import type { SomeProjection } from './projection.ts'
import { rebuild } from './rebuild.ts'

type Parts = Pick<ConsumerParts, 'eventLog' | 'pool' | 'leases' | 'signal' | 'log'>

const usage = `
  status               how far each consumer of the log has come
  rebuild <name>|all   makes a read model anew from the first event, beside the one in use
  compare <name>|all   compares a read model, row by row, with one made anew
  resume <name>        lets a consumer that stopped at an event try it again
`

/**
 * What an operator can do with the read models: `npm run projections -- rebuild all`. The projections may run meanwhile,
 * here or elsewhere. The exit code: 0 if all is well, 1 if not, 2 if the command cannot be understood.
 */
export const projectionsCommand = async (
  [command = '', name = '']: readonly string[],
  projections: readonly SomeProjection[],
  parts: Parts,
  output: Output,
): Promise<number> => {
  const write = (line: string) => output.write(`${line}\n`)
  const chosen = projections.filter((projection) => name === 'all' || projection.name === name)

  switch (command) {
    case 'status':
      for (const { name: consumer, version, position, failed_at, failure } of await consumerHealth(parts.pool)) {
        const place = position ? `at ${parts.eventLog.measure(position)}` : 'at the beginning'
        const stopped =
          failed_at && failure ? `, stopped at ${failure.type} of ${failure.stream}: ${failure.message}` : ''
        write(`${consumer}  version ${version}, ${place}${stopped}`)
      }
      return 0
    case 'resume':
      if (await resumeConsumer(parts.pool, name)) {
        write(`${name} goes on where it stopped.`)
        return 0
      }
      write(`There is no consumer called ${JSON.stringify(name)}. The command status lists those that there are.`)
      return 2
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
      write(`Commands for the read models:\n${usage}`)
      return 2
  }
}

const rebuildShown = async (projection: SomeProjection, parts: Parts, output: Output): Promise<boolean> => {
  const { name } = projection
  const shown = progressShown(name, output)
  try {
    await rebuild(projection, parts, { report: shown.report })
    shown.end()
    output.write(`${name} was rebuilt.\n`)
    return true
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
  if (error instanceof EventFailed) {
    const { type, stream, id } = error.event
    return `${type} of ${stream} (${id}) cannot be handled: ${String(error)}`
  }
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
